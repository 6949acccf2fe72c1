import { execFile } from "node:child_process";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { runAs } from "../process/as-user.ts";
import type { StepUser } from "../process/step-user.ts";

/** Writes the first of its arguments that is a file which whoever runs this may run. */
const FIRST_RUNNABLE = 'for file; do [ -f "$file" ] && [ -x "$file" ] && printf %s "$file" && exit; done; exit 1';

/**
 * A program by its name, as whoever is to run it finds it in the agent's own PATH: what root may run may be closed to
 * another user. A step's PATH is for what the step runs. @throws when there is none
 */
export const findProgram = async (name: string, user: StepUser | null): Promise<string> => {
  const folders = (process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin").split(delimiter);
  const places = folders.filter((folder) => folder.startsWith("/")).map((folder) => join(folder, name));
  const options = { cwd: "/", env: {}, ...runAs(user) };
  try {
    return (await promisify(execFile)("/bin/sh", ["-c", FIRST_RUNNABLE, "sh", ...places], options)).stdout;
  } catch {
    throw new Error(`${name} is not installed on this agent${user ? `, or ${user.name} may not run it` : ""}`);
  }
};
