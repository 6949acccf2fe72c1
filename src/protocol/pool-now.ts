/** Counts of active builds at this moment. */
export interface PoolNow {
  running: number;
  waiting: number;
  /** Builds with a gate that asks, and that a person of the given role may decide. They are counted here only. */
  forRole: number;
}
