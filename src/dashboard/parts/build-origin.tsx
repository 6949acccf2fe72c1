import type { Build, BuildEvent } from "../../protocol/build.ts";
import type { Child } from "../shell/markup.ts";

type Named = Pick<Build, "branch" | "tag" | "pull">;

/** Reports whether the build is of a fork's branch, which has no name in the repository. */
const isHeadOfFork = ({ branch, pull }: Named): boolean => pull !== null && branch.startsWith("refs/");

/** Returns the build's branch, tag or pull request, as people call it. */
export const refName = (build: Named): string =>
  isHeadOfFork(build) ? `pull request ${build.pull?.number}` : (build.tag ?? build.branch);

/** The events that create builds: a word for lists and forms, and a shape next to it. */
const EVENTS: Record<BuildEvent, { word: string; shape: Child }> = {
  push: { word: "push", shape: <path d="M8 13V3.5M4 7.2l4-4 4 4" /> },
  tag: { word: "tag", shape: <path d="M2.8 3v4.8l5.6 5.4 4.8-4.8L7.8 3zM5.4 5.5v.1" /> },
  pull: {
    word: "pull request",
    shape: (
      <path d="M4 5.8v4.4M4 10.2a1.7 1.7 0 1 0 .01 0M4 2.4a1.7 1.7 0 1 0 .01 0M12 10.2a1.7 1.7 0 1 0 .01 0M12 10V6.5a2 2 0 0 0-2-2H7.5M9.3 2.6L7.5 4.5l1.8 1.9" />
    ),
  },
  "merge-group": { word: "merge queue", shape: <path d="M4 3v10M4 5c0 4 8 2 8 6v2" /> },
  schedule: { word: "schedule", shape: <path d="M8 2.5a5.5 5.5 0 1 0 .01 0M8 5v3.3l2.2 1.4" /> },
  api: { word: "API", shape: <path d="M5 3.5v9l7-4.5z" /> },
};

const FILTERED_EVENTS: BuildEvent[] = ["push", "pull", "tag", "schedule", "api"];
/** The events that filter the list of builds, with their words. */
export const EVENT_OPTIONS = FILTERED_EVENTS.map((event): [string, string] => [event, EVENTS[event].word]);

const EventIcon = ({ event }: { event: BuildEvent }) => (
  <svg class="state" viewBox="0 0 16 16" aria-hidden="true">
    {EVENTS[event].shape}
  </svg>
);

/** Returns a pull request's title; null if the commit's subject is the same. */
const unlessSaid = (title: string | null, subject: string | null): string | null => (title === subject ? null : title);

/** Shows a row's short line: what created the build, and who wrote the commit. */
export const RowOrigin = ({ build }: { build: Build }) => {
  const { event, pull, author, subject, schedule } = build;
  const name = pull ? unlessSaid(pull.title, subject) : schedule;
  return (
    <>
      {(event !== "api" || pull || author) && (
        <span class="origin">
          <EventIcon event={event} />
          <span class={pull ? "sr" : undefined}>{EVENTS[event].word}</span>
          {pull && !isHeadOfFork(build) && <span>#{pull.number}</span>}
          {name && <span class="name">{name}</span>}
          {author && <span class="author">{author}</span>}
        </span>
      )}
    </>
  );
};

/** Links to the builds of the same repository that have the same value in one field. */
const Others = ({ build, field, value }: { build: Build; field: string; value: string }) => (
  <a href={`/app/builds?${new URLSearchParams({ repoId: build.repoId, [field]: value })}`}>
    {field === "pull" ? `#${value}` : value}
  </a>
);

/** Shows on a build's page what created the build, who wrote the commit, and its base for comparison. */
export const OriginOfBuild = ({ build }: { build: Build }) => {
  const { event, pull, schedule, base, subject, author } = build;
  const title = pull && unlessSaid(pull.title, subject);
  return (
    <>
      {(event !== "api" || pull) && (
        <span class="made-by">
          <EventIcon event={event} />
          {pull ? (
            <>
              <span class="sr">{EVENTS[event].word} </span>
              <Others build={build} field="pull" value={String(pull.number)} />
            </>
          ) : (
            EVENTS[event].word
          )}
        </span>
      )}
      {title && <bdi>{title}</bdi>}
      {pull?.base && (
        <span>
          into <bdi>{pull.base}</bdi>
        </span>
      )}
      {schedule && <bdi>{schedule}</bdi>}
      {author && (
        <span>
          by <Others build={build} field="author" value={author} />
        </span>
      )}
      {pull?.author && pull.author !== author && (
        <span>
          opened by <bdi>{pull.author}</bdi>
        </span>
      )}
      {base && (
        <span>
          base <code title={base}>{base.slice(0, 7)}</code>
        </span>
      )}
    </>
  );
};
