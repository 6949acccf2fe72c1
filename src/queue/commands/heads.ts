import { DAY_MS } from "../../protocol/units.ts";
/** A commit to which a ref was set, as the pool learned of it. */
export interface Head {
  sha: string;
  /** The previous head; null until a delivery names it. */
  before: string | null;
  /**
   * The head's build, and that build's number in the repository. Null if another head replaced this head before this
   * head arrived.
   */
  buildId: string | null;
  number: number;
  /** Milliseconds since 1970. */
  at: number;
}

/** The pool remembers heads with the same key together. Builds that only read the pipeline file have their own key. */
export interface HeadKey {
  pipelineId: string;
  /** The ref's full name: `refs/heads/...` or `refs/tags/...`. */
  ref: string;
  purpose: "build" | "read-file";
}

type Pushed = Pick<Head, "sha" | "before">;

/**
 * The maximum number of heads that the pool remembers for one key, and the milliseconds for which it remembers them.
 */
const MOST_HEADS = 20;
export const HEAD_MS = 4 * DAY_MS;

/**
 * The kind of an arriving head. `same`: the pool knows this head, and no head followed it. `late`: another head has
 * already replaced it. `new`: neither is the case. `isCertain` is false if the head may also be old, because the ref
 * may have returned to an earlier commit.
 */
type Place = { kind: "same"; head: Head } | { kind: "late" } | { kind: "new"; isCertain: boolean };

/** Normalizes a push. If a host reports that a ref moved to its own commit, the push names no previous head. */
const normal = ({ sha, before }: Pushed): Pushed => ({ sha, before: before === sha ? null : before });

const findSuccessors = (heads: readonly Head[], sha: string): Head[] => heads.filter(({ before }) => before === sha);

/** Returns the ref's heads after its deletion at this commit, which are the heads that the pool learned of later. */
export const madeAgain = (heads: readonly Head[], sha: string | null): readonly Head[] => {
  const deletedIndex = sha === null ? -1 : heads.findLastIndex((head) => head.sha === sha);
  if (sha === null || deletedIndex === -1) return [];
  const olderShas = olderThan(heads, sha);
  return heads.slice(deletedIndex + 1).filter((head) => !olderShas.has(head.sha));
};

/** Returns this commit, and the commits to which links lead back from it. */
const olderThan = (heads: readonly Head[], sha: string): Set<string> => {
  const shas = new Set([sha]);
  for (const one of shas) for (const head of heads) if (head.sha === one && head.before) shas.add(head.before);
  return shas;
};

/** Returns this commit, and the commits that the ref had after it, as far as links show. */
const shasFrom = (heads: readonly Head[], sha: string): Set<string> => {
  const shas = new Set([sha]);
  for (const from of shas) for (const head of findSuccessors(heads, from)) shas.add(head.sha);
  return shas;
};

/** Returns the kind of an arriving head. `heads` are in the order in which the pool learned of them. */
export const place = (heads: readonly Head[], pushed: Pushed): Place => {
  const { sha, before } = normal(pushed);
  const isSame = (head: Head, index: number): boolean =>
    head.sha === sha &&
    (head.before === before || head.before === null || before === null) &&
    !heads.some((other, later) => later > index && other.before === sha);
  const head = heads.findLast(isSame);
  if (head) return { kind: "same", head };
  const successors = findSuccessors(heads, sha);
  if (successors.length === 0) return { kind: "new", isCertain: true };
  return mayFollow(heads, successors, { sha, before }) ? { kind: "new", isCertain: false } : { kind: "late" };
};

/**
 * Reports whether the ref may have returned to this commit after its successors. One of three facts suggests it: links
 * show it, the ref moved to the commit from another one earlier, or the pool learned of the previous head later than of
 * the successor.
 */
const mayFollow = (heads: readonly Head[], successors: readonly Head[], { sha, before }: Pushed): boolean => {
  if (before === null) return false;
  if (successors.some((one) => shasFrom(heads, one.sha).has(before))) return true;
  const earlierHeads = heads.filter((one) => one.sha === sha);
  if (earlierHeads.length > 0) return earlierHeads.some((one) => one.before !== null && one.before !== before);
  return heads.findLastIndex((one) => one.sha === before) > heads.indexOf(successors[0]!);
};

/** Adds the previous head that an arriving head names. Returns the same list if the pool knows this already. */
export const learn = (heads: readonly Head[], pushed: Pushed, at: number): readonly Head[] => {
  const { sha, before } = normal(pushed);
  if (before === null || heads.some((head) => head.sha === sha && head.before === before)) return heads;
  const openHead = heads.findLast((head) => head.sha === sha && head.before === null);
  if (openHead) return heads.map((head) => (head === openHead ? { ...head, before } : head));
  return [...heads, { sha, before, buildId: null, number: 0, at }];
};

/** Adds a new head with its build, and drops heads above the maximum number and heads that are too old. */
export const remember = (heads: readonly Head[], head: Head): Head[] => [
  ...heads.filter(({ at }) => at > head.at - HEAD_MS).slice(1 - MOST_HEADS),
  { ...head, ...normal(head) },
];

/**
 * Returns the newest head after this one. Returns null if the ref had one of the commits in between twice, because the
 * order is then unknown.
 */
const newestFrom = (heads: readonly Head[], from: Head): Head | null => {
  let newest = from;
  for (let steps = 0; steps <= heads.length; steps++) {
    const [next, ...others] = findSuccessors(heads, newest.sha);
    if (!next) return newest;
    if (others.length > 0 || heads.some((head) => head.sha === newest.sha && head !== newest)) return null;
    newest = next;
  }
  return null;
};

/**
 * Returns the newest head from this one on, and the heads before it that links prove. Links prove no heads beyond a
 * commit that the ref had twice. Null if the newest head has no build, or is uncertain.
 */
export const olderThanNewest = (
  heads: readonly Head[],
  { sha }: Pick<Head, "sha">,
): { newest: Head; older: Head[] } | null => {
  const from = heads.findLast((head) => head.sha === sha);
  const newest = from && newestFrom(heads, from);
  if (!newest?.buildId) return null;
  const older: Head[] = [];
  for (let { before } = newest; before !== null; ) {
    const [head, ...others] = heads.filter((one) => one.sha === before);
    if (!head || others.length > 0 || head === newest || older.includes(head)) break;
    older.push(head);
    before = head.before;
  }
  return { newest, older };
};
