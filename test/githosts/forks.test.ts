import { describe, expect, it } from "vitest";
import type { Fields } from "../../src/githosts/core/body.ts";
import { PULLS, type Reader } from "./samples.ts";

const [GITHUB, GITLAB, GITEA] = PULLS;

/**
 * Heads that people without write access may have created: each differs in one field from a pull request of the
 * repository's own branch.
 */
const FORKS: [string, (typeof PULLS)[number], Parameters<(typeof PULLS)[number][1]>[0]][] = [
  [
    "GitHub: of another repository",
    GITHUB!,
    (body) => {
      body.pull_request.head.repo.id = 1;
    },
  ],
  [
    "GitHub: of a deleted fork",
    GITHUB!,
    (body) => {
      body.pull_request.head.repo = null;
    },
  ],
  ["GitHub: of an unnamed repository", GITHUB!, (body) => void delete body.pull_request.head.repo],
  [
    "GitLab: of another project",
    GITLAB!,
    (body) => {
      body.object_attributes.source_project_id = 1;
    },
  ],
  [
    "GitLab: of a deleted project",
    GITLAB!,
    (body) => {
      body.object_attributes.source_project_id = null;
    },
  ],
  ["GitLab: of an unnamed project", GITLAB!, (body) => void delete body.object_attributes.source_project_id],
  [
    "Gitea: of another repository",
    GITEA!,
    (body) => void Object.assign(body.pull_request.head, { repo_id: 1, repo: { id: 1 } }),
  ],
  [
    "Gitea: of another repository by one of two ids",
    GITEA!,
    (body) => {
      body.pull_request.head.repo_id = 1;
    },
  ],
  [
    "Gitea: of another repository by the other id",
    GITEA!,
    (body) => {
      body.pull_request.head.repo.id = 1;
    },
  ],
  [
    "Gitea: of a deleted fork",
    GITEA!,
    (body) => void Object.assign(body.pull_request.head, { repo_id: -1, repo: null }),
  ],
  [
    "Gitea: pushed to refs/for/",
    GITEA!,
    (body) => {
      body.pull_request.head.ref = "refs/pull/1/head";
    },
  ],
];

/** Returns those that a reader takes for the repository's own. */
const taken = (mutant: (read: Reader, body: Fields) => ReturnType<Reader>): string[] =>
  FORKS.filter(([, [, body, read], change]) => {
    const arrival = mutant(read, body(change));
    return !(arrival.kind === "pull" && arrival.pull.isFork);
  }).map(([title]) => title);

/** Returns the fields with a guess instead of each null in the head. */
const guessed = (body: Fields): Fields => {
  const {
    pull_request: pull,
    object_attributes: merge,
    project,
    repository,
  } = structuredClone(body) as never as Record<string, Record<string, { repo?: unknown }>>;
  if (pull) pull.head!.repo ??= repository;
  if (merge) merge.source_project_id ??= project!.id!;
  return { ...body, pull_request: pull, object_attributes: merge };
};

describe("a head that may come from others", () => {
  it("is never the repository's own", () => {
    expect(taken((read, body) => read(body))).toEqual([]);
    for (const [, body, read] of PULLS) expect(read(body())).toMatchObject({ pull: { isFork: false } });
  });

  it("is tested so that a reader fails that treats it as the repository's own", () => {
    expect(taken((read, body) => read(guessed(body)))).toEqual([
      "GitHub: of a deleted fork",
      "GitHub: of an unnamed repository",
      "GitLab: of a deleted project",
      "GitLab: of an unnamed project",
    ]);
  });

  it("is ignored if its repository has a form that no host sends", () => {
    const [, body, read] = GITHUB!;
    expect(
      read(
        body((told) => {
          told.pull_request.head.repo = "own";
        }),
      ),
    ).toMatchObject({ kind: "ignored" });
  });
});
