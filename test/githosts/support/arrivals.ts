import * as fc from "fast-check";
import type {
  ActivePipeline,
  OpenPull,
  PullEvent,
  PushEvent,
  RefEvent,
} from "../../../src/githosts/core/effect-facts.ts";
import { DEFAULT_TRIGGERS, type On } from "../../../src/pipeline/triggers/triggers.ts";
import type { Forks } from "../../../src/protocol/repository.ts";

export const REPOSITORY = {
  defaultBranch: "main",
  forks: "off" as Forks,
  untrustedAuthors: ["renovate[bot]"],
};
export const FILE = ".millrace.yml";
export const ZEROS = "0".repeat(40);

export const sha = (digit: string): string => digit.repeat(40);

export const pipeline = (on: Partial<On> = {}, change: Partial<ActivePipeline> = {}): ActivePipeline => ({
  id: "p1",
  file: FILE,
  on: { push: null, tag: null, pull: null, mergeGroup: false, ...on },
  supersede: "refs",
  ...change,
});

export const withDefaults = (change: Partial<ActivePipeline> = {}): ActivePipeline =>
  pipeline(DEFAULT_TRIGGERS.on, change);

export const push = (branch: string, change: Partial<PushEvent> = {}): PushEvent => ({
  kind: "push",
  branch,
  sha: sha("a"),
  before: sha("b"),
  isForced: false,
  files: ["src/a.ts"],
  hasSkipMarker: false,
  sender: "ada",
  pushers: [],
  ...change,
});

export const openPull = (change: Partial<OpenPull> = {}): OpenPull => ({
  number: 7,
  ref: "refs/heads/feature",
  base: "main",
  sha: sha("a"),
  isDraft: false,
  labels: [],
  author: "ada",
  title: "Add a thing",
  ...change,
});

export const pull = (
  action: PullEvent["action"],
  change: Partial<OpenPull> = {},
  arrived: Partial<PullEvent> = {},
): PullEvent => ({
  kind: "pull",
  action,
  pull: openPull(change),
  before: null,
  isFork: false,
  isByMember: false,
  hasSkipMarker: false,
  sender: "ada",
  pushers: [],
  ...arrived,
});

const NAMES = ["main", "feature", "release/1", "v1", "gh-readonly-queue/main/pr-7"];
const FILES = ["docs/a.md", "docs/b/c.md", "src/a.ts", FILE, "README.md"];
const LABELS = ["ready", "big"];

const some = <T>(values: readonly T[]) => fc.subarray([...values], { minLength: 1 });
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const names = orNull(some(["**", "main", "feature", "release/*", "v*", "!v*"]));
const paths = orNull(some(["docs/**", "src/**", "!src/a.ts", "*.md"]));
const branches = fc.oneof(names, fc.constant("default" as const));

export const ons: fc.Arbitrary<On> = fc.record({
  push: orNull(fc.record({ branches, paths })),
  tag: orNull(fc.record({ names })),
  pull: orNull(fc.record({ base: names, paths, drafts: fc.boolean(), labels: orNull(some(LABELS)) })),
  mergeGroup: fc.boolean(),
});

export const pipelinesOf = (maxLength: number): fc.Arbitrary<ActivePipeline[]> =>
  fc
    .array(
      fc.record({
        on: ons,
        file: fc.constantFrom(FILE, "other.yml", null),
        supersede: fc.constantFrom("refs" as const, "all" as const, "none" as const),
      }),
      { maxLength },
    )
    .map((all) => all.map((one, index) => ({ ...one, id: `p${index}` })));

/** Up to 800: the same few, repeated. */
export const manyPipelines: fc.Arbitrary<ActivePipeline[]> = fc
  .tuple(pipelinesOf(4), fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 4 }) }, fc.constant(200)))
  .map(([few, times]) =>
    Array.from({ length: times }, (_, turn) => few.map((one) => ({ ...one, id: `${one.id}-${turn}` }))).flat(),
  );

export const forks = fc.constantFrom<Forks>("approval", "members");
/** Known earlier pushers. */
const pushers = fc.subarray(["renovate[bot]", "mallory"]);
const senders = fc.constantFrom("ada", "Renovate[bot]", null);
const shas = fc.constantFrom(sha("a"), sha("b"), sha("c"));
const befores = orNull(fc.constantFrom(ZEROS, sha("b"), sha("c")));

export const pulls: fc.Arbitrary<OpenPull> = fc.record({
  number: fc.integer({ min: 1, max: 4 }),
  ref: fc.constantFrom(...NAMES).map((name) => `refs/heads/${name}`),
  base: fc.constantFrom("main", "release/1"),
  sha: shas,
  isDraft: fc.boolean(),
  labels: fc.subarray(LABELS),
  author: fc.constantFrom("ada", "renovate[bot]", null),
  title: fc.constant("Add a thing"),
});

export const openPulls = fc.uniqueArray(pulls, { maxLength: 4, selector: (one) => one.number });

export const pushes: fc.Arbitrary<PushEvent> = fc.record({
  kind: fc.constant("push" as const),
  branch: fc.constantFrom(...NAMES),
  sha: shas,
  before: befores,
  isForced: fc.boolean(),
  files: orNull(fc.subarray(FILES)),
  hasSkipMarker: fc.boolean(),
  sender: senders,
  pushers,
});

export const pullArrivals: fc.Arbitrary<PullEvent> = fc.record({
  kind: fc.constant("pull" as const),
  action: fc.constantFrom(
    "opened" as const,
    "head" as const,
    "reopened" as const,
    "edited" as const,
    "closed" as const,
  ),
  pull: pulls,
  before: befores,
  isFork: fc.boolean(),
  isByMember: fc.boolean(),
  hasSkipMarker: fc.boolean(),
  sender: senders,
  pushers,
});

export const tags: fc.Arbitrary<RefEvent> = fc.record({
  kind: fc.constant("tag" as const),
  tag: fc.constantFrom(...NAMES),
  sha: shas,
  before: befores,
  sender: senders,
  pushers,
});

const gone: fc.Arbitrary<RefEvent> = fc.record({
  kind: fc.constant("gone" as const),
  ref: fc.constantFrom(...NAMES.map((name) => `refs/heads/${name}`), "refs/tags/v1"),
});

const groups: fc.Arbitrary<RefEvent> = fc.record({
  kind: fc.constant("merge-group" as const),
  action: fc.constantFrom("asked" as const, "gone" as const),
  branch: fc.constant("gh-readonly-queue/main/pr-7"),
  sha: shas,
  sender: senders,
  pushers: fc.constant([]),
});

export const arrivals: fc.Arbitrary<RefEvent> = fc.oneof(pushes, pullArrivals, tags, gone, groups);
