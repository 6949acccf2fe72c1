/** The program's exit codes. `run FILE` ends with the failed step's exit code. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  notRegistered: 3,
  alreadyRunning: 4,
  unreachable: 5,
  hooks: 6,
  interrupted: 130,
} as const;

/** Ends the program with an exit code. `message` states the problem and what a person can do. */
export class ExitError extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}
