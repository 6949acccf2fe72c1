/**
 * The maximum number of pools in one run, and of busy pools among them. Quiet pools get at least the remaining places.
 */
export const POOLS_PER_SWEEP = 250;
export const BUSY_POOLS_PER_SWEEP = 200;
/** Minutes between the beginnings of two walks through the quiet pools. */
export const QUIET_MINUTES = 15;

/** The place where the next sweep continues. Each kind of pool has its own walk, in the order of names. */
export interface SweepPlace {
  after: string;
  /** The last name in the walk through the quiet pools; empty unless such a walk is under way. */
  quietAfter: string;
  /** The minute since 1970 in which the last walk began. */
  quietAt: number;
}

export const SWEEP_BEGIN: SweepPlace = { after: "", quietAfter: "", quietAt: 0 };

/** Reports whether a run also sweeps quiet pools. */
export const isQuietTurn = ({ quietAfter, quietAt }: SweepPlace, minute: number): boolean =>
  quietAfter !== "" || minute - quietAt >= QUIET_MINUTES;

/** Returns the next names of a sorted list. Also returns the last of them if more names follow. */
const next = (names: readonly string[], after: string, room: number): [slice: string[], after: string] => {
  const rest = names.filter((name) => name > after);
  const slice = rest.slice(0, room);
  return [slice, rest.length > room ? (slice.at(-1) ?? "") : ""];
};

/**
 * Chooses one run's pools from those that are due, sorted. Each busy pool is in every `rounds`th run. The walk through
 * the quiet pools begins every 15 minutes and takes as many runs as necessary.
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
