/** Pools of one run, and those of them that are busy: the quiet ones have at least the others' places. */
export const POOLS_PER_SWEEP = 250;
export const BUSY_POOLS_PER_SWEEP = 200;
/** Minutes from one walk of the quiet pools to the next. */
export const QUIET_MINUTES = 15;

/** Where the next sweep goes on: each kind of pool has a walk of its own, in the order of names. */
export interface SweepPlace {
  after: string;
  /** Empty where no walk of the quiet pools is under way. */
  quietAfter: string;
  /** The minute since 1970 in which it began last. */
  quietAt: number;
}

export const SWEEP_BEGIN: SweepPlace = { after: "", quietAfter: "", quietAt: 0 };

/** Whether a run also sweeps quiet pools. */
export const isQuietTurn = ({ quietAfter, quietAt }: SweepPlace, minute: number): boolean =>
  quietAfter !== "" || minute - quietAt >= QUIET_MINUTES;

/** The next names of a sorted list, and the last of them where more follow. */
const next = (names: readonly string[], after: string, room: number): [slice: string[], after: string] => {
  const rest = names.filter((name) => name > after);
  const slice = rest.slice(0, room);
  return [slice, rest.length > room ? (slice.at(-1) ?? "") : ""];
};

/**
 * Chooses the pools of one run from those that are due, sorted. Each busy pool is in every `rounds`th run; the quiet ones
 * are walked every 15 minutes, in as many runs as it takes.
 */
export const sweepSlice = (
  place: SweepPlace,
  { busy, quiet }: { busy: readonly string[]; quiet: readonly string[] },
  minute: number,
): { names: string[]; rounds: number; place: SweepPlace } => {
  const [ofBusy, after] = next(busy, place.after, BUSY_POOLS_PER_SWEEP);
  const rounds = Math.max(1, Math.ceil(busy.length / BUSY_POOLS_PER_SWEEP));
  if (!isQuietTurn(place, minute)) return { names: ofBusy, rounds, place: { ...place, after } };
  const [ofQuiet, quietAfter] = next(quiet, place.quietAfter, POOLS_PER_SWEEP - ofBusy.length);
  const quietAt = place.quietAfter === "" ? minute : place.quietAt;
  return { names: [...ofBusy, ...ofQuiet], rounds, place: { after, quietAfter, quietAt } };
};
