/** What the program's exit code tells whoever started it; `run FILE` passes on that of the step that failed. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  notRegistered: 3,
  alreadyRunning: 4,
  unreachable: 5,
  interrupted: 130,
} as const;

/** An end of the program that a person can do something about: `message` says what. */
export class ExitError extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}
