import { EXIT, ExitError } from "./exit-codes.ts";
import { logger } from "./logger.ts";

export interface StopSignals {
  /** Aborted by the first SIGTERM or SIGINT: the agent finishes its active build. */
  drain: AbortSignal;
  /** Aborted by the second one: the agent stops the active build. */
  interrupt: AbortSignal;
}

export const listenToStopSignals = (): StopSignals => {
  const drain = new AbortController();
  const interrupt = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    if (drain.signal.aborted) {
      interrupt.abort(new ExitError("interrupted", EXIT.interrupted));
    } else {
      logger.info(`${name}: the agent ends`);
      drain.abort(new ExitError("stopped", EXIT.done));
    }
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  return { drain: drain.signal, interrupt: interrupt.signal };
};
