import type { Forks } from "../../protocol/repository.ts";
import type { Arrived, OpenPull, PlannedBuild } from "./plan-facts.ts";

/** What a repository says of whose code may be built, and how. */
export interface SourceRules {
  forks: Forks;
  /** Logins whose pushes and pull requests are built as those of strangers are; letter case does not count. */
  untrustedAuthors: readonly string[];
}

export type Source = Pick<PlannedBuild, "trust" | "needsApproval">;

const TRUSTED: Source = { trust: "trusted", needsApproval: false };
/** Nobody has to approve what somebody wrote who may write to the repository. */
const OF_LISTED_AUTHOR: Source = { trust: "untrusted", needsApproval: false };

const isListed = ({ untrustedAuthors }: SourceRules, login: string | null): boolean =>
  login !== null && untrustedAuthors.some((name) => name.toLowerCase() === login.toLowerCase());

/**
 * Whose code a delivery brings. Code of a fork is never trusted, whoever wrote it. A branch is not trusted where a listed
 * author pushed to it, or made one of its pull requests. `pulls` are the open ones of the ref.
 */
export const sourceOf = (arrived: Arrived, rules: SourceRules, pulls: readonly OpenPull[]): Source => {
  switch (arrived.kind) {
    case "push":
    case "tag":
    case "pull": {
      if (arrived.kind === "pull" && arrived.isFork)
        return { trust: "untrusted", needsApproval: rules.forks !== "members" || !arrived.isByMember };
      const authors = [arrived.sender, ...pulls.map(({ author }) => author)];
      return authors.some((login) => isListed(rules, login)) ? OF_LISTED_AUTHOR : TRUSTED;
    }
    case "gone":
    case "merge-group":
      return TRUSTED;
  }
};
