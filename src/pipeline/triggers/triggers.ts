/** Which pushes, tags and pull requests build a pipeline. Null: none of this kind; of a list: it decides nothing. */
export interface On {
  push: { branches: string[] | "default" | null; paths: string[] | null } | null;
  tag: { names: string[] | null } | null;
  pull: { base: string[] | null; paths: string[] | null; drafts: boolean; labels: string[] | null } | null;
  mergeGroup: boolean;
}

export const SUPERSEDE = ["refs", "all", "none"] as const;
/** Which refs' older builds end for a newer head: all but the default branch, tags and merge groups; all; none. */
export type Supersede = (typeof SUPERSEDE)[number];

/** A line of a file's `schedule`. `env` are variables of its runs. */
export interface NamedSchedule {
  name: string;
  cron: string;
  timeZone: string;
  env: Record<string, string>;
}

/** What starts and ends a pipeline's builds, as its file says it. */
export interface Triggers {
  on: On;
  supersede: Supersede;
  schedule: NamedSchedule[];
}

/** What holds without a file that says otherwise. */
export const DEFAULT_TRIGGERS: Triggers = {
  on: {
    push: { branches: "default", paths: null },
    tag: null,
    pull: { base: null, paths: null, drafts: true, labels: null },
    mergeGroup: false,
  },
  supersede: "refs",
  schedule: [],
};
