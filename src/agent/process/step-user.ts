import { execFileSync } from "node:child_process";
import { EXIT, ExitError } from "../cli/exit-codes.ts";

/** The user that steps run as, with --run-as. */
export interface StepUser {
  name: string;
  uid: number;
  gid: number;
}

/** A login name: it may be an argument of a command. */
export const isUserName = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_.-]*\$?$/.test(name);

const outputOf = (command: string, args: string[]): string => execFileSync(command, args, { encoding: "utf8" }).trim();

/** @throws ExitError when the user does not exist, or the agent may not become it. */
export const findStepUser = (name: string): StepUser => {
  if (!isUserName(name)) throw new ExitError("--run-as must be the name of a user", EXIT.usage);
  if (process.getuid?.() !== 0)
    throw new ExitError("--run-as needs an agent that runs as root: only root may become another user", EXIT.usage);
  try {
    const uid = Number(outputOf("id", ["-u", "--", name]));
    const gid = Number(outputOf("id", ["-g", "--", name]));
    if (uid === 0) throw new ExitError("--run-as must not be root", EXIT.usage);
    return { name, uid, gid };
  } catch (error) {
    if (error instanceof ExitError) throw error;
    throw new ExitError(`--run-as: there is no user ${name} on this machine`, EXIT.usage);
  }
};
