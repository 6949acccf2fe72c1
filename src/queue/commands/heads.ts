import { DAY_MS } from "../../protocol/units.ts";
/** A commit to which a ref was set, as the pool heard of it. */
export interface Head {
  sha: string;
  /** The head before it; null while nobody told it. */
  before: string | null;
  /** Its build and that build's number in the repository; null where the head was replaced before it arrived. */
  buildId: string | null;
  number: number;
  /** Milliseconds since 1970. */
  at: number;
}

/** Whose heads are remembered together. Builds that only read the pipeline file stand apart from the others. */
export interface HeadKey {
  pipelineId: string;
  /** The whole name: `refs/heads/...` or `refs/tags/...`. */
  ref: string;
  purpose: "build" | "read-file";
}

type Pushed = Pick<Head, "sha" | "before">;

/** Heads of one key that are remembered at most, and for how many milliseconds. */
const MOST_HEADS = 20;
export const HEAD_MS = 4 * DAY_MS;

/**
 * What an arriving head is. `same`: this head was heard of, and nothing came after it. `late`: another head replaced it
 * already. `new`: neither; not certain where it may also be an old one, since the ref went back to an earlier commit.
 */
type Place = { kind: "same"; head: Head } | { kind: "late" } | { kind: "new"; isCertain: boolean };

/** What hosts tell of a ref that moved to where it was names no head before it. */
const normal = ({ sha, before }: Pushed): Pushed => ({ sha, before: before === sha ? null : before });

const findSuccessors = (heads: readonly Head[], sha: string): Head[] => heads.filter(({ before }) => before === sha);

/** The heads that a ref had after it was deleted at this commit and made again: all that were heard of later. */
export const madeAgain = (heads: readonly Head[], sha: string | null): readonly Head[] => {
  const deletedIndex = sha === null ? -1 : heads.findLastIndex((head) => head.sha === sha);
  if (sha === null || deletedIndex === -1) return [];
  const olderShas = olderThan(heads, sha);
  return heads.slice(deletedIndex + 1).filter((head) => !olderShas.has(head.sha));
};

/** Commits to which links lead back from this one, with the one itself. */
const olderThan = (heads: readonly Head[], sha: string): Set<string> => {
  const shas = new Set([sha]);
  for (const one of shas) for (const head of heads) if (head.sha === one && head.before) shas.add(head.before);
  return shas;
};

/** Commits that the ref had after this one, as far as links tell, with the one itself. */
const shasFrom = (heads: readonly Head[], sha: string): Set<string> => {
  const shas = new Set([sha]);
  for (const from of shas) for (const head of findSuccessors(heads, from)) shas.add(head.sha);
  return shas;
};

/** Where an arriving head belongs. `heads` are in the order in which the pool heard of them. */
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
 * Whether the ref may have gone back to this commit after those that came after it: by links, since it was there from
 * elsewhere, or since the pool heard of the head before it later than of its successor.
 */
const mayFollow = (heads: readonly Head[], successors: readonly Head[], { sha, before }: Pushed): boolean => {
  if (before === null) return false;
  if (successors.some((one) => shasFrom(heads, one.sha).has(before))) return true;
  const earlierHeads = heads.filter((one) => one.sha === sha);
  if (earlierHeads.length > 0) return earlierHeads.some((one) => one.before !== null && one.before !== before);
  return heads.findLastIndex((one) => one.sha === before) > heads.indexOf(successors[0]!);
};

/** The heads with what an arriving one tells of what was before it; the same list where that is nothing. */
export const learn = (heads: readonly Head[], pushed: Pushed, at: number): readonly Head[] => {
  const { sha, before } = normal(pushed);
  if (before === null || heads.some((head) => head.sha === sha && head.before === before)) return heads;
  const openHead = heads.findLast((head) => head.sha === sha && head.before === null);
  if (openHead) return heads.map((head) => (head === openHead ? { ...head, before } : head));
  return [...heads, { sha, before, buildId: null, number: 0, at }];
};

/** The heads with a new one and its build, without those that are too many or too old. */
export const remember = (heads: readonly Head[], head: Head): Head[] => [
  ...heads.filter(({ at }) => at > head.at - HEAD_MS).slice(1 - MOST_HEADS),
  { ...head, ...normal(head) },
];

/** The newest head that follows this one. Null where the ref had a commit of the way twice: then nobody can tell. */
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
 * The newest head from here on, and those before it, as far as links tell for certain: not beyond a commit that the ref
 * had twice. Null where the newest has no build, or is not certain.
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
