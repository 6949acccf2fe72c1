import { execFile } from "node:child_process";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { runAs } from "../process/as-user.ts";
import type { StepUser } from "../process/step-user.ts";

/** Prints the first argument that is a file which the user of this shell may run. */
const FIRST_RUNNABLE = 'for file; do [ -f "$file" ] && [ -x "$file" ] && printf %s "$file" && exit; done; exit 1';

/**
 * Finds a program in the folders of the build's tools, or in the agent's own PATH, with the rights of the user who will run it: root may run files that this
 * user may not. The step's PATH does not count. @throws when there is none.
 */
export const findProgram = async (name: string, user: StepUser | null, before: string[] = []): Promise<string> => {
  const folders = [...before, ...(process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin").split(delimiter)];
  const candidates = folders.filter((folder) => folder.startsWith("/")).map((folder) => join(folder, name));
  const options = { cwd: "/", env: {}, ...runAs(user) };
  try {
    return (await promisify(execFile)("/bin/sh", ["-c", FIRST_RUNNABLE, "sh", ...candidates], options)).stdout;
  } catch {
    throw new Error(`${name} is not installed on this agent${user ? `, or ${user.name} may not run it` : ""}`);
  }
};
