/* Loaded before the agent: timers of exactly a minute end after six seconds, all others at the right time. */
const MINUTE = 60_000;
const SHORT = 6_000;

const shortened = (milliseconds: number | undefined) => (milliseconds === MINUTE ? SHORT : milliseconds);

const { setTimeout: begin } = globalThis;
globalThis.setTimeout = ((run: () => void, milliseconds?: number, ...given: []) =>
  begin(run, shortened(milliseconds), ...given)) as typeof setTimeout;

const { timeout } = AbortSignal;
AbortSignal.timeout = (milliseconds) => timeout.call(AbortSignal, shortened(milliseconds) ?? milliseconds);
