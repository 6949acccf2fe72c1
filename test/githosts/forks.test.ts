import { describe, expect, it } from "vitest";
import type { Fields } from "../../src/githosts/core/body.ts";
import { PULLS, type Reader } from "./samples.ts";

const [GITHUB, GITLAB, GITEA] = PULLS;

/** Heads that people without write access may have made: each differs in one thing from an own pull request. */
const FORKS: [string, (typeof PULLS)[number], Parameters<(typeof PULLS)[number][1]>[0]][] = [
  [
    "GitHub: of another repository",
    GITHUB!,
    (body) => {
      body.pull_request.head.repo.id = 1;
    },
  ],
  [
    "GitHub: of a fork that is gone",
    GITHUB!,
    (body) => {
      body.pull_request.head.repo = null;
    },
  ],
  ["GitHub: of a repository that is not told", GITHUB!, (body) => void delete body.pull_request.head.repo],
  [
    "GitLab: of another project",
    GITLAB!,
    (body) => {
      body.object_attributes.source_project_id = 1;
    },
  ],
  [
    "GitLab: of a project that is gone",
    GITLAB!,
    (body) => {
      body.object_attributes.source_project_id = null;
    },
  ],
  ["GitLab: of a project that is not told", GITLAB!, (body) => void delete body.object_attributes.source_project_id],
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
    "Gitea: of a fork that is gone",
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

/** Those that are taken for the repository's own. */
const taken = (mutant: (read: Reader, body: Fields) => ReturnType<Reader>): string[] =>
  FORKS.filter(([, [, body, read], change]) => {
    const arrival = mutant(read, body(change));
    return !(arrival.kind === "pull" && arrival.pull.isFork);
  }).map(([title]) => title);

/** What a pull request names as its head, with a guess in the place of null. */
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

describe("a head that others may have made", () => {
  it("is never the repository's own", () => {
    expect(taken((read, body) => read(body))).toEqual([]);
    for (const [, body, read] of PULLS) expect(read(body())).toMatchObject({ pull: { isFork: false } });
  });

  it("would be seen to be taken for its own", () => {
    expect(taken((read, body) => read(guessed(body)))).toEqual([
      "GitHub: of a fork that is gone",
      "GitHub: of a repository that is not told",
      "GitLab: of a project that is gone",
      "GitLab: of a project that is not told",
    ]);
  });

  it("is ignored where its repository is told in a form that no host has", () => {
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
