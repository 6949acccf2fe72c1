import { describe, expect, it } from "vitest";
import { PULLS } from "./samples.ts";

const [GITHUB, GITLAB, GITEA] = PULLS.map(([, body, read]) => ({ body, read }));

/** The events that hosts send for a closed pull request, besides its close. GitLab sends all of them as an update. */
const CHANGES: Record<string, string[]> = {
  GitHub: [
    "labeled",
    "unlabeled",
    "edited",
    "converted_to_draft",
    "ready_for_review",
    "synchronize",
    "opened",
    "reopened",
  ],
  GitLab: ["open", "reopen"],
  Gitea: ["label_updated", "label_cleared", "edited", "synchronized", "opened", "reopened"],
};
const GITLAB_CHANGES = [
  ...[{ labels: {} }, { title: {} }, { target_branch: {} }],
  ...[{ draft: { current: false } }, { draft: { current: true } }],
];
const CLOSES: Record<string, string[]> = { GitHub: ["closed"], GitLab: ["close", "merge"], Gitea: ["closed"] };

describe("a pull request", () => {
  it("of GitHub has all its facts", () => {
    expect(GITHUB!.read(GITHUB!.body())).toEqual({
      kind: "pull",
      action: "opened",
      repository: { id: 7001, fullName: "millwork/gears", defaultBranch: "main" },
      sender: "ann",
      ref: "refs/pull/12/head",
      sha: "3".repeat(40),
      before: null,
      commit: null,
      isSkipped: false,
      pull: {
        ...{
          number: 12,
          base: "main",
          branch: "faster",
          isFork: false,
          isByMember: false,
          isDraft: false,
          isMerged: false,
        },
        ...{ labels: ["speed"], author: "ann", title: "Turn the gears faster" },
        updatedAt: "2026-11-19T08:00:00.000Z",
      },
    });
  });

  it("of GitLab has all its facts", () => {
    expect(GITLAB!.read(GITLAB!.body())).toEqual({
      kind: "pull",
      action: "opened",
      repository: { id: 8002, fullName: "millwork/parts/gears", defaultBranch: "main" },
      sender: "ann",
      ref: "refs/merge-requests/4/head",
      sha: "3".repeat(40),
      before: null,
      commit: { subject: "Oil the gears", author: "Ann Miller" },
      isSkipped: false,
      pull: {
        ...{
          number: 4,
          base: "main",
          branch: "oil",
          isFork: false,
          isByMember: false,
          isDraft: false,
          isMerged: false,
        },
        ...{ labels: ["speed"], author: "ann", title: "Oil the gears" },
        updatedAt: "2026-11-19T08:00:00.000Z",
      },
    });
  });

  it("of Gitea has all its facts", () => {
    expect(GITEA!.read(GITEA!.body())).toEqual({
      kind: "pull",
      action: "reopened",
      repository: { id: 93, fullName: "millwork/gears", defaultBranch: "main" },
      sender: "ann",
      ref: "refs/pull/6/head",
      sha: "3".repeat(40),
      before: null,
      commit: null,
      isSkipped: false,
      pull: {
        ...{
          number: 6,
          base: "main",
          branch: "grease",
          isFork: false,
          isByMember: false,
          isDraft: false,
          isMerged: false,
        },
        ...{ labels: [], author: "ann", title: "Grease the gears" },
        updatedAt: "2026-11-19T08:00:00.000Z",
      },
    });
  });

  it("translates the action into our words", () => {
    const actions = ({ body, read }: NonNullable<typeof GITHUB>, names: string[]) =>
      names.map((name) => {
        const arrival = read(
          body((told) => {
            told.action = name;
          }),
        );
        return arrival.kind === "pull" ? arrival.action : arrival.kind;
      });
    expect(
      actions(GITHUB!, [
        ...["opened", "synchronize", "reopened", "closed", "edited", "converted_to_draft", "ready_for_review"],
        ...["labeled", "unlabeled", "assigned", "synchronized", "constructor", "__proto__", ""],
      ]),
    ).toEqual([
      ...["opened", "new-head", "reopened", "closed", "edited", "edited", "ready"],
      ...["labeled", "labeled", "ignored", "ignored", "ignored", "ignored", "ignored"],
    ]);
    expect(
      actions(GITEA!, [
        ...["opened", "synchronized", "reopened", "closed", "edited", "label_updated", "label_cleared"],
        ...["assigned", "synchronize", "toString"],
      ]),
    ).toEqual([
      ...["opened", "new-head", "reopened", "closed", "edited", "labeled", "labeled"],
      ...["ignored", "ignored", "ignored"],
    ]);
  });

  it.each<[string, object, object | null]>([
    ["new-head", { oldrev: "a".repeat(40) }, { labels: { previous: [], current: [] } }],
    ["ready", {}, { draft: { previous: true, current: false }, title: { previous: "Draft: x", current: "x" } }],
    ["edited", {}, { draft: { previous: false, current: true } }],
    ["edited", {}, { title: { previous: "x", current: "y" } }],
    ["edited", {}, { target_branch: { previous: "main", current: "next" } }],
    ["labeled", {}, { labels: { previous: [], current: [] } }],
  ])("of GitLab is %s after an update with %j and %j", (action, attributes, changes) => {
    const update = GITLAB!.body((body) => {
      Object.assign(body.object_attributes, attributes, { action: "update" });
      body.changes = changes;
    });
    expect(GITLAB!.read(update)).toMatchObject({ kind: "pull", action });
  });

  it.each<[string, unknown]>([
    ["to the time spent", { total_time_spent: { previous: 0, current: 1 } }],
    ["of nothing", {}],
    ["without changes", undefined],
    ["with changes of another type", [1]],
  ])("of GitLab is ignored after an update %s", (_, changes) => {
    const update = GITLAB!.body((body) => {
      body.object_attributes.action = "update";
      body.changes = changes;
    });
    expect(GITLAB!.read(update)).toMatchObject({ kind: "ignored" });
  });

  it("of GitLab says whether it was merged or closed", () => {
    const became = (action: string) =>
      GITLAB!.read(
        GITLAB!.body((body) => {
          body.object_attributes.action = action;
        }),
      );
    expect(became("close")).toMatchObject({ action: "closed", pull: { isMerged: false } });
    expect(became("merge")).toMatchObject({ action: "closed", pull: { isMerged: true } });
    expect(became("reopen")).toMatchObject({ action: "reopened" });
    for (const other of ["approved", "unapproved", "approval", "valueOf"]) {
      expect(became(other)).toMatchObject({ kind: "ignored" });
    }
  });

  it("of GitLab may be a draft by either field, and names its author only if it is known", () => {
    const told = (attributes: object) =>
      GITLAB!.read(GITLAB!.body((body) => void Object.assign(body.object_attributes, attributes)));
    expect(told({ draft: undefined, work_in_progress: true })).toMatchObject({ pull: { isDraft: true } });
    expect(told({ draft: true })).toMatchObject({ pull: { isDraft: true } });
    expect(told({ author_id: 1 })).toMatchObject({ sender: "ann", pull: { author: null } });
    expect(told({ last_commit: { id: "a".repeat(40), message: "x [skip ci]" } })).toMatchObject({ isSkipped: true });
  });

  it("has its previous head, if the host reports it", () => {
    const before = "b".repeat(40);
    const synchronized = GITHUB!.body((body) => Object.assign(body, { action: "synchronize", before }));
    expect(GITHUB!.read(synchronized)).toMatchObject({ action: "new-head", before });
  });

  describe.each(PULLS)("of %s", (host, body, read) => {
    const told = (change: { sha?: unknown; base?: unknown }) =>
      read(
        body(({ object_attributes: merge, pull_request: pull }) => {
          if ("sha" in change) Object.assign(merge?.last_commit ?? pull.head, { id: change.sha, sha: change.sha });
          if ("base" in change) Object.assign(merge ?? pull.base, { target_branch: change.base, ref: change.base });
        }),
      );

    it.each(["0".repeat(40), "", "abc", null, 5])("is ignored with the commit %j", (sha) => {
      expect(told({ sha })).toEqual({ kind: "ignored", reason: expect.any(String) });
    });

    it.each(["", "a b", "refs/tags/v1", "x".repeat(251), null])("is ignored with the base %j", (base) => {
      expect(told({ base })).toEqual({
        kind: "ignored",
        reason: expect.stringMatching(/^The field .*(ref|branch) is/),
      });
    });

    it.each(["closed", "merged", "locked", "a word of a later release"])(
      "triggers nothing once its state is %s",
      (state) => {
        const told = (action: string, more: object = {}) => {
          const changed = body((of) => {
            Object.assign(of.object_attributes ?? of, { action });
            Object.assign(of.object_attributes ?? of.pull_request, { state });
            Object.assign(of, more);
          });
          return read(changed);
        };
        const isClosed = { kind: "ignored", reason: expect.stringMatching(/^The (pull|merge) request is closed\.$/) };
        for (const action of CHANGES[host]!) expect(told(action), action).toEqual(isClosed);
        for (const changes of GITLAB_CHANGES)
          if (host === "GitLab") expect(told("update", { changes })).toEqual(isClosed);
        for (const action of CLOSES[host]!) expect(told(action)).toMatchObject({ kind: "pull", action: "closed" });
      },
    );

    it.each([undefined, null, 1, host === "GitLab" ? "opened" : "open"])("is open if its state is %j", (state) => {
      const opened = body((of) => void Object.assign(of.object_attributes ?? of.pull_request, { state }));
      expect(read(opened)).toMatchObject({ kind: "pull" });
    });

    it("has at most 100 labels, and none without a list", () => {
      const labels = (list: unknown) =>
        read(
          body((changed) => {
            (changed.pull_request ?? changed).labels = list;
          }),
        );
      const label = { name: "a\u0000b", title: "a\u0000b" };
      expect(labels(Array(150).fill(label))).toMatchObject({ pull: { labels: Array(100).fill("a b") } });
      expect(labels(null)).toMatchObject({ pull: { labels: [] } });
    });
  });
});
