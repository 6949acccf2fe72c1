import { spawn } from "node:child_process";
import { accessSync, constants as files } from "node:fs";
import { constants } from "node:os";
import { delimiter, join } from "node:path";
import type { ProcessTree } from "./process-tree.ts";
import type { StepUser } from "./step-user.ts";

export interface StepProcess {
  argv: [string, ...string[]];
  folder: string;
  env: Record<string, string>;
  /** Where standard output and error go. */
  output: number;
  user: StepUser | null;
}

/** The program as the agent itself finds it: a step's own PATH is for what the step runs. */
const programPath = (name: string): string | null => {
  for (const folder of (process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin").split(delimiter)) {
    const path = join(folder || ".", name);
    try {
      accessSync(path, files.X_OK);
      return path;
    } catch {}
  }
  return null;
};

/**
 * Runs a step as the leader of a process group of its own, without input. Resolves with its exit code, 128 + N when
 * signal N ended it. @throws when it cannot be started.
 */
export const runProcess = ({ argv, folder, env, output, user }: StepProcess, tree: ProcessTree): Promise<number> =>
  new Promise((resolve, reject) => {
    const [name, ...args] = argv;
    const program = programPath(name);
    if (program === null) throw new Error(`${name} is not installed on this agent`);
    const child = spawn(program, args, {
      cwd: folder,
      env,
      detached: true,
      stdio: ["ignore", output, output],
      ...(user ? { uid: user.uid, gid: user.gid } : {}),
    });
    if (child.pid !== undefined) tree.add(child.pid);
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
