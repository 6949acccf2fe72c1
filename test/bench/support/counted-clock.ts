const RealDate = Date;
let ahead = 0;

globalThis.Date = class extends RealDate {
  constructor(...given: unknown[]) {
    super(...((given.length > 0 ? given : [RealDate.now() + ahead]) as [number]));
  }
  static override now(): number {
    return RealDate.now() + ahead;
  }
} as DateConstructor;

/** An object with an alarm: its binding and name. */
export interface Alarm {
  binding: "AGENT_POOL" | "BUILD_LOG" | "GIT_HOST";
  name: string;
  at: number;
}

const alarms = new Map<string, Alarm>();
const keyOf = ({ binding, name }: Pick<Alarm, "binding" | "name">): string => `${binding} ${name}`;

export const alarmOf = (of: Pick<Alarm, "binding" | "name">): Alarm | undefined => alarms.get(keyOf(of));
export const alarmsSet = (): Iterable<Alarm> => alarms.values();
export const setAlarm = (alarm: Alarm): void => void alarms.set(keyOf(alarm), alarm);
export const clearAlarm = (of: Pick<Alarm, "binding" | "name">): void => void alarms.delete(keyOf(of));

/** Returns the platform's time that corresponds to this time on our clock. */
export const toRealTime = (at: number): number => at - ahead;

const nextAlarm = (until: number): Alarm | undefined =>
  [...alarms.values()].sort((one, other) => one.at - other.at).find(({ at }) => at <= until);

/** More alarms mean that an alarm sets itself for a past time. */
const MAX_ALARMS = 10_000;

/** Moves the clock forward by `milliseconds`, and fires each alarm at its time. */
export const passTime = async (milliseconds: number, fire: (alarm: Alarm) => Promise<void>): Promise<void> => {
  const until = Date.now() + milliseconds;
  for (let fired = 0; fired < MAX_ALARMS; fired++) {
    const alarm = nextAlarm(until);
    ahead += Math.max(0, (alarm?.at ?? until) - Date.now());
    if (!alarm) return;
    await fire(alarm);
  }
  throw new Error("An alarm fires repeatedly");
};
