import type { Forks } from "../../protocol/repository.ts";
import type { OpenPull, RefEvent, WantedBuild } from "./effect-facts.ts";

/** What a repository says of whose code may be built, and how. */
export interface SourceRules {
  forks: Forks;
  /** Logins whose pushes and pull requests are built as those of strangers are; letter case does not count. */
  untrustedAuthors: readonly string[];
}

export type SourceTrust = Pick<WantedBuild, "trust" | "needsApproval">;

const TRUSTED: SourceTrust = { trust: "trusted", needsApproval: false };
/** Nobody has to approve what somebody wrote who may write to the repository. */
const OF_LISTED_AUTHOR: SourceTrust = { trust: "untrusted", needsApproval: false };

/** Those of the logins that are listed, each once and in small letters. */
export const listedOf = (
  { untrustedAuthors }: Pick<SourceRules, "untrustedAuthors">,
  logins: readonly (string | null)[],
): string[] => {
  const asked = new Set(logins.map((login) => login?.toLowerCase()));
  return [...new Set(untrustedAuthors.map((name) => name.toLowerCase()))].filter((name) => asked.has(name));
};

/**
 * Whose code a delivery brings. Code of a fork is never trusted, whoever wrote it. A branch is not trusted where a listed
 * author pushed to it, whoever pushed since, or made one of its pull requests. `pulls` are the open ones of the ref.
 */
export const sourceTrustOf = (event: RefEvent, rules: SourceRules, pulls: readonly OpenPull[]): SourceTrust => {
  switch (event.kind) {
    case "push":
    case "tag":
    case "pull":
    case "merge-group": {
      if (event.kind === "pull" && event.isFork)
        return { trust: "untrusted", needsApproval: rules.forks !== "members" || !event.isByMember };
      const authors = [event.sender, ...event.pushers, ...pulls.map(({ author }) => author)];
      return listedOf(rules, authors).length > 0 ? OF_LISTED_AUTHOR : TRUSTED;
    }
    case "gone":
      return TRUSTED;
  }
};
