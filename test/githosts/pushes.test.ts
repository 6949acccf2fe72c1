import { describe, expect, it } from "vitest";
import { giteaArrival } from "../../src/githosts/gitea/deliveries.ts";
import { githubArrival } from "../../src/githosts/github/deliveries.ts";
import { gitlabArrival } from "../../src/githosts/gitlab/deliveries.ts";
import { bodyWith } from "../support/deliveries/bodies.ts";
import { PUSHES } from "./samples.ts";

const ZEROS = "0".repeat(40);

describe("a push", () => {
  it("of GitHub has all its facts", () => {
    expect(githubArrival("push", bodyWith("githubPush"))).toEqual({
      kind: "push",
      repository: { id: 7001, fullName: "millwork/gears", defaultBranch: "main" },
      sender: "ann",
      ref: "refs/heads/main",
      sha: "2".repeat(40),
      before: "1".repeat(40),
      forced: false,
      commit: { subject: "Turn the gears faster (#12)", author: "Ann Miller" },
      isSkipped: false,
      changedPaths: ["gears/turn.go", "gears/turn_test.go"],
    });
  });

  it("of GitLab has all its facts", () => {
    expect(gitlabArrival("Push Hook", bodyWith("gitlabPush"))).toEqual({
      kind: "push",
      repository: { id: 8002, fullName: "millwork/parts/gears", defaultBranch: "main" },
      sender: "ann",
      ref: "refs/heads/main",
      sha: "2".repeat(40),
      before: "1".repeat(40),
      forced: null,
      commit: { subject: "Oil the gears", author: "Ann Miller" },
      isSkipped: false,
      changedPaths: ["OIL.md"],
    });
  });

  it("of Gitea has all its facts", () => {
    expect(giteaArrival("push", bodyWith("giteaPush"))).toEqual({
      kind: "push",
      repository: { id: 93, fullName: "millwork/gears", defaultBranch: "main" },
      sender: "ann",
      ref: "refs/heads/main",
      sha: "2".repeat(40),
      before: "1".repeat(40),
      forced: null,
      commit: { subject: "Grease the gears", author: "Ann Miller" },
      isSkipped: false,
      changedPaths: ["gears.c", "eyes.c", "blind.c"],
    });
  });

  describe.each(PUSHES)("of %s", (_, body, read) => {
    it("of a new branch has no complete list of paths", () => {
      expect(
        read(
          body((push) => {
            push.before = ZEROS;
          }),
        ),
      ).toMatchObject({ before: null, changedPaths: null });
    });

    it.each<[string, unknown]>([
      ["missing", undefined],
      ["null", null],
      ["empty", []],
      ["of another type", "none"],
      ["without paths", [{ id: "a".repeat(40), message: "", author: null }]],
      ["of paths of another type", [{ id: "a".repeat(40), message: "", added: [1], removed: [], modified: [] }]],
    ])("has no complete list of paths if the commits are %s", (_, commits) => {
      expect(
        read(
          body((push) => {
            push.commits = commits;
          }),
        ),
      ).toMatchObject({ kind: "push", changedPaths: null });
    });

    it("builds the host's commit if the ref is an annotated tag", () => {
      const tag = body((push) => {
        push.ref = "refs/tags/v1";
        push.checkout_sha = "c".repeat(40);
        push.head_commit = { id: "c".repeat(40), message: "x", author: null };
      });
      expect(read(tag)).toMatchObject({ kind: "tag", ref: "refs/tags/v1", sha: "c".repeat(40) });
    });

    it("is a deletion if it has no new head", () => {
      const gone = read(body((push) => Object.assign(push, { after: ZEROS, checkout_sha: null, head_commit: null })));
      expect(gone).toMatchObject({ kind: "deleted", before: expect.stringMatching(/^[0-9a-f]{40}$/) });
    });

    it("may have SHA-256 hashes", () => {
      const sha = "e".repeat(64);
      const long = (push: object) => Object.assign(push, { after: sha, checkout_sha: sha, head_commit: null });
      expect(read(body(long))).toMatchObject({ sha });
      const gone = read(body((push) => Object.assign(push, { after: "0".repeat(64), checkout_sha: null })));
      expect(gone).toMatchObject({ kind: "deleted" });
    });

    it.each([
      ["refs/notes/commits", "neither a branch nor a tag"],
      ["refs/pull/1/head", "neither a branch nor a tag"],
      ["main", "neither a branch nor a tag"],
      ["refs/heads/", "must not be empty"],
      ["refs/heads/a..b", "must not have .."],
      ["refs/heads/-a", "must not begin with -"],
      ["refs/heads/a\u0000b", "control characters"],
      ["refs/heads/a\ud800", "valid Unicode"],
      ["refs/heads/ma\u200bin", "invisible"],
      [`refs/heads/${"x".repeat(251)}`, "250"],
      [`refs/tags/${"x".repeat(250)}`, "250"],
      ["refs/tags/v1.lock", ".lock"],
      ["refs/heads/refs/tags/v1", "must not begin with refs/"],
      ["refs/heads/refs/heads/main", "must not begin with refs/"],
      ["refs/heads/gh-readonly-queue/main/pr-1-abc", "merge queue"],
    ])("to %j is ignored with a reason", (ref, reason) => {
      const told = { kind: "ignored", reason: expect.stringContaining(reason) };
      expect(
        read(
          body((push) => {
            push.ref = ref;
          }),
        ),
      ).toEqual(told);
    });

    it("to a branch with 250 characters is accepted", () => {
      const ref = `refs/heads/${"x".repeat(250)}`;
      expect(
        read(
          body((push) => {
            push.ref = ref;
          }),
        ),
      ).toMatchObject({ kind: "push", ref });
    });

    it.each<[string, string, unknown]>([
      ["after", "after", "not a commit"],
      ["after", "after", "a".repeat(41)],
      ["after", "after", 7],
      ["after", "after", undefined],
      ["before", "before", null],
      ["ref", "ref", ["refs/heads/main"]],
    ])("names the wrong field %s, but not its value", (name, field, value) => {
      const reason = `The field ${name} is missing or invalid.`;
      expect(
        read(
          body((push) => {
            push[field] = value;
          }),
        ),
      ).toEqual({ kind: "ignored", reason });
    });

    it.each([-1, 0, 1.5, 2 ** 53, 1e300, "7", null])("of a repository with the id %j is ignored", (id) => {
      const told = { kind: "ignored", reason: expect.stringMatching(/^The field (repository|project)\.id is/) };
      expect(
        read(
          body((push) => {
            (push.project ?? push.repository).id = id;
          }),
        ),
      ).toEqual(told);
    });

    it("has well-formed lines for people", () => {
      const told = read(
        body((push) => {
          const commit = { ...push.commits[0], id: push.after, message: `a\u0007b\ud83d ${"x".repeat(300)}\nmore` };
          Object.assign(push, { commits: [commit], head_commit: commit });
        }),
      );
      const { subject } = (told as { commit: { subject: string } }).commit;
      expect(subject).toBe(`a b\ufffd ${"x".repeat(245)}`);
    });

    it("skips the build only if its newest commit says so", () => {
      const skip = { message: "docs [skip ci]", author: null };
      const paths = { added: [], removed: [], modified: [] };
      const newest = body((push) => {
        push.head_commit = { ...skip, id: push.after };
        push.commits = [{ ...push.head_commit, ...paths }];
      });
      expect(read(newest)).toMatchObject({ kind: "push", isSkipped: true });
      const older = body((push) => push.commits.unshift({ ...skip, id: "f".repeat(40), ...paths }));
      expect(read(older)).toMatchObject({ kind: "push", isSkipped: false });
    });
  });

  it("has no complete list of paths if GitHub says that it was forced, or does not say", () => {
    for (const forced of [true, undefined, "no"]) {
      const body = bodyWith("githubPush", (push) => Object.assign(push, { forced }));
      expect(githubArrival("push", body)).toMatchObject({ kind: "push", changedPaths: null });
    }
  });

  it("has no complete list of paths if the host cut it", () => {
    const github = (change: Parameters<typeof bodyWith>[1]) => githubArrival("push", bodyWith("githubPush", change));
    const listed = (count: number) =>
      github((push) => {
        push.commits = Array(count).fill(push.commits[0]);
      });
    expect(listed(2047)).toMatchObject({ changedPaths: expect.any(Array) });
    expect(listed(2048)).toMatchObject({ changedPaths: null });
    const named = (count: number) =>
      github((push) => {
        push.commits[0].added = Array(count).fill("a");
      });
    expect(named(4999)).toMatchObject({ changedPaths: expect.any(Array) });
    expect(named(5000)).toMatchObject({ changedPaths: null });

    const gitlab = bodyWith("gitlabPush", (push) => {
      push.total_commits_count = 21;
    });
    expect(gitlabArrival("Push Hook", gitlab)).toMatchObject({ changedPaths: null });
    const gitea = bodyWith("giteaPush", (push) => {
      push.total_commits = 3;
    });
    expect(giteaArrival("push", gitea)).toMatchObject({ changedPaths: null });
    const unknown = bodyWith("giteaPush", (push) => void delete push.total_commits);
    expect(giteaArrival("push", unknown)).toMatchObject({ changedPaths: null });
  });
});

describe("a deletion of Gitea", () => {
  const deletion = (ref: unknown, ref_type: unknown) =>
    giteaArrival(
      "delete",
      bodyWith("giteaDelete", (body) => Object.assign(body, { ref, ref_type })),
    );

  it.each([
    ["feature", "branch", "refs/heads/feature"],
    ["refs/heads/feature", "branch", "refs/heads/feature"],
    ["v1", "tag", "refs/tags/v1"],
    ["refs/tags/v1", "tag", "refs/tags/v1"],
  ])("of %s, a %s, names the full ref", (ref, type, full) => {
    expect(deletion(ref, type)).toMatchObject({ kind: "deleted", ref: full, before: null });
  });

  it.each([
    ["a b", "branch"],
    ["feature", "note"],
    [null, "tag"],
  ])("of %j, a %s, is ignored", (ref, type) => {
    expect(deletion(ref, type)).toMatchObject({ kind: "ignored" });
  });
});
