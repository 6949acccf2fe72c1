import { describe, expect, it } from "vitest";
import type { ActivePipeline, OpenPull, RefEvent } from "../../src/githosts/core/effect-facts.ts";
import { decideEffects, isSameBuild } from "../../src/githosts/core/effects.ts";
import { FILE, openPull, pipeline, pull, push, REPOSITORY, sha, withDefaults, ZEROS } from "./support/arrivals.ts";

const planned = (arrived: RefEvent, pipelines: ActivePipeline[], pulls: OpenPull[] = []) =>
  decideEffects(arrived, REPOSITORY, pipelines, pulls);

const TAG: RefEvent = { kind: "tag", tag: "v1.2", sha: sha("a"), before: ZEROS, sender: "ada", pushers: [] };
const GROUP: RefEvent = {
  ...{ kind: "merge-group", action: "asked", branch: "gh-readonly-queue/main/pr-7", sha: sha("a") },
  ...{ sender: "ada", pushers: [] },
};

const PULL_RULE = { base: null, paths: null, drafts: true, labels: null };
const DOCS = pipeline({ push: { branches: null, paths: ["docs/**"] } });
const NO_DRAFTS = pipeline({ pull: { ...PULL_RULE, drafts: false } });
const READY = pipeline({ pull: { ...PULL_RULE, labels: ["ready"] } });

describe("a pipeline without triggers in its file", () => {
  it("builds pushes to the default branch, and its pull requests with their facts", () => {
    expect(planned(push("main"), [withDefaults()])).toEqual({
      builds: [
        {
          ...{ pipelineId: "p1", event: "push", ref: "refs/heads/main", sha: sha("a"), before: sha("b"), pull: null },
          ...{ purpose: "build", undecidedPaths: null, supersedes: false, trust: "trusted", needsApproval: false },
        },
      ],
      ...{ ended: [], openPull: null, ignored: null, leftOut: [] },
    });
    const { builds, openPull: known } = planned(pull("opened"), [withDefaults()]);
    expect(builds).toMatchObject([
      { event: "pull", ref: "refs/heads/feature", before: null, pull: openPull(), supersedes: true },
    ]);
    expect(known).toEqual({ remember: openPull() });
  });
});

describe("a delivery without builds says why", () => {
  it.each<[string, RefEvent, ActivePipeline[], OpenPull[]]>([
    ["there is no active pipeline", push("main"), [], []],
    ["no pipeline builds this branch", push("feature"), [withDefaults()], []],
    ["no pipeline builds pushes", push("feature"), [pipeline()], []],
    ["no pipeline builds tags", TAG, [withDefaults()], []],
    ["no pipeline builds this tag", TAG, [pipeline({ tag: { names: ["release-*"] } })], []],
    ["no pipeline builds pull requests", pull("opened"), [pipeline()], []],
    [
      "no pipeline builds pull requests into this branch",
      pull("opened", { base: "old" }),
      [pipeline({ pull: { ...PULL_RULE, base: ["main"] } })],
      [],
    ],
    ["the pull request is a draft", pull("opened", { isDraft: true }), [NO_DRAFTS], []],
    ["the pull request has none of these labels: ready", pull("opened", { labels: ["big"] }), [READY], []],
    ["no pipeline builds merge groups", GROUP, [withDefaults()], []],
    [
      "a merge queue branch",
      push("gh-readonly-queue/main/pr-7"),
      [pipeline({ push: { branches: null, paths: null } })],
      [],
    ],
    ["no file matching docs/** changed", push("feature"), [pipeline(), DOCS, withDefaults()], []],
    ["skip marker", push("main", { hasSkipMarker: true }), [withDefaults()], []],
    ["skip marker", push("feature", { hasSkipMarker: true }), [withDefaults()], [openPull()]],
    ["skip marker", pull("head", {}, { hasSkipMarker: true }), [withDefaults()], []],
    ["fork, off", pull("opened", {}, { isFork: true }), [withDefaults()], []],
    ["the branch was deleted", { kind: "gone", ref: "refs/heads/feature" }, [withDefaults()], []],
    ["the tag was deleted", { kind: "gone", ref: "refs/tags/v1" }, [withDefaults()], []],
    ["the pull request was closed", pull("closed"), [withDefaults()], [openPull()]],
    ["nothing that affects builds has changed", pull("edited", { title: "Other" }), [withDefaults()], [openPull()]],
  ])("%s", (reason, arrived, pipelines, pulls) => {
    expect(planned(arrived, pipelines, pulls)).toMatchObject({ builds: [], ignored: reason });
  });

  it("names only the first of many patterns", () => {
    const paths = ["a/**", "b/**", `${"c".repeat(200)}/**`, "d/**"];
    const { ignored } = planned(push("feature"), [pipeline({ push: { branches: null, paths } })]);
    expect(ignored).toBe(`no file matching a/**, b/**, ${"c".repeat(60)} ... changed`);
  });
});

describe("a push", () => {
  it("reads the file without running its steps if only the file changed", () => {
    const release = pipeline({ tag: { names: null } });
    const { builds } = planned(push("main", { files: [FILE] }), [release]);
    expect(builds).toMatchObject([{ event: "push", purpose: "read-file", supersedes: false }]);
    expect(planned(push("feature", { files: [FILE] }), [release]).builds).toEqual([]);
    expect(planned(push("main", { files: [FILE] }), [{ ...release, file: null }]).builds).toEqual([]);
  });

  it("with an incomplete list leaves the paths to the agent", () => {
    for (const change of [{ files: null }, { isForced: true }, { before: ZEROS }, { before: null }])
      expect(planned(push("feature", change), [DOCS]).builds).toMatchObject([{ undecidedPaths: ["docs/**"] }]);
    const slow = Array.from({ length: 50 }, () => `${"**a*".repeat(60)}b`);
    const large = pipeline({ push: { branches: null, paths: slow } });
    const files = Array.from({ length: 5000 }, () => `${"a".repeat(100)}ba`);
    expect(planned(push("feature", { files }), [large]).builds).toMatchObject([{ undecidedPaths: slow }]);
  });

  it("to a branch with several pull requests is for the first that a pipeline builds", () => {
    const pulls = [
      openPull({ number: 9, base: "old" }),
      openPull({ number: 8 }),
      openPull({ number: 7, isDraft: true }),
    ];
    expect(planned(push("feature"), [NO_DRAFTS], pulls).builds).toMatchObject([{ event: "pull", pull: { number: 8 } }]);
    expect(planned(pull("head", { number: 9, base: "old" }), [NO_DRAFTS], pulls).builds).toMatchObject([
      { event: "pull", pull: { number: 8 } },
    ]);
  });

  it("has the facts of the branch's pull request even if only the push rule matches", () => {
    const all = pipeline({ push: { branches: null, paths: null } });
    expect(planned(push("feature"), [all], [openPull()]).builds).toMatchObject([
      { event: "push", pull: { number: 7 } },
    ]);
  });
});

describe("a pull request", () => {
  it("leaves its paths to the agent, because no host lists its files", () => {
    const docs = pipeline({ pull: { ...PULL_RULE, paths: ["docs/**"] } });
    expect(planned(pull("head"), [docs]).builds).toMatchObject([{ undecidedPaths: ["docs/**"] }]);
    expect(planned(push("feature"), [docs], [openPull()]).builds).toMatchObject([{ undecidedPaths: ["docs/**"] }]);
    expect(planned(push("feature", { files: ["docs/a"] }), [docs], [openPull()]).builds).toMatchObject([
      { undecidedPaths: null },
    ]);
  });

  it("triggers missing builds when it gets a label, another base or becomes ready", () => {
    expect(
      planned(pull("edited", { labels: ["ready"] }), [READY, withDefaults({ id: "p2" })], [openPull()]).builds,
    ).toMatchObject([{ pipelineId: "p1", event: "pull", pull: { labels: ["ready"] } }]);
    expect(planned(pull("edited"), [NO_DRAFTS], [openPull({ isDraft: true })]).builds).toHaveLength(1);
    const old = pipeline({ pull: { ...PULL_RULE, base: ["old"] } });
    expect(planned(pull("edited", { base: "old" }), [old], [openPull()]).builds).toHaveLength(1);
    expect(planned(pull("edited"), [withDefaults()], [openPull({ sha: sha("c") })]).builds).toHaveLength(1);
  });

  it("ends its builds when it is closed, unless its branch has another pull request", () => {
    const pipelines = [withDefaults(), withDefaults({ id: "p2", supersede: "none" })];
    const closed = planned(pull("closed"), pipelines, [openPull()]);
    expect(closed.ended).toEqual([{ pipelineId: "p1", ref: "refs/heads/feature", pull: 7, sha: null }]);
    expect(closed.openPull).toEqual({ forget: 7 });
    expect(planned(pull("closed"), pipelines, [openPull(), openPull({ number: 8 })]).ended).toEqual([]);
  });
});

describe("a monorepo", () => {
  const paths = (n: number) => [`packages/p${n}/**`];
  const monorepo = (count: number) =>
    Array.from({ length: count }, (_, n) =>
      pipeline(
        {
          ...{ push: { branches: null, paths: paths(n) }, pull: { ...PULL_RULE, paths: paths(n) } },
          ...{ tag: { names: null }, mergeGroup: true },
        },
        { id: `p${n}` },
      ),
    );

  it.each<[string, RefEvent]>([
    ["a pull request", pull("head")],
    ["a forced push", push("feature", { isForced: true })],
    ["a new branch", push("feature", { before: ZEROS })],
    ["a push with an incomplete list of files", push("main", { files: null })],
    ["a tag", TAG],
    ["a merge group", GROUP],
  ])("builds every pipeline that may match %s", (_, arrived) => {
    const { builds, leftOut } = planned(arrived, monorepo(500));
    expect([builds.length, leftOut.length]).toEqual([500, 0]);
  });

  it("names the omitted pipelines if it has more than one delivery builds", () => {
    const { builds, leftOut } = planned(pull("head"), monorepo(502));
    expect(builds).toHaveLength(500);
    expect(leftOut).toMatchObject([{ pipelineId: "p500" }, { pipelineId: "p501" }]);
  });
});

describe("a deleted ref", () => {
  it("ends its builds if newer ones would", () => {
    const pipelines = [
      withDefaults(),
      withDefaults({ id: "p2", supersede: "all" }),
      withDefaults({ id: "p3", supersede: "none" }),
    ];
    const ended = (ref: string) => planned({ kind: "gone", ref }, pipelines).ended.map((one) => one.pipelineId);
    expect(ended("refs/heads/feature")).toEqual(["p1", "p2"]);
    expect(ended("refs/heads/main")).toEqual(["p2"]);
    expect(ended("refs/tags/v1")).toEqual(["p2"]);
  });
});

describe("tags and merge groups", () => {
  it("are built as separate refs, whatever a commit's marker says", () => {
    const every = pipeline({ tag: { names: ["v*"] }, mergeGroup: true });
    expect(planned(TAG, [every]).builds).toMatchObject([{ event: "tag", ref: "refs/tags/v1.2", supersedes: false }]);
    expect(planned(GROUP, [every]).builds).toMatchObject([
      { event: "merge-group", ref: "refs/heads/gh-readonly-queue/main/pr-7", supersedes: false },
    ]);
  });
});

describe("two planned builds", () => {
  it("are the same with the same pipeline, ref, head and, if both have it, previous head", () => {
    const [one] = planned(push("feature"), [withDefaults()], [openPull()]).builds;
    expect(isSameBuild(one!, { ...one!, before: null, event: "push" })).toBe(true);
    for (const other of [{ before: sha("c") }, { sha: sha("c") }, { ref: "refs/heads/other" }, { pipelineId: "p2" }])
      expect(isSameBuild(one!, { ...one!, ...other })).toBe(false);
    expect(isSameBuild(one!, { ...one!, purpose: "read-file" })).toBe(false);
  });
});
