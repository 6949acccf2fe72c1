import { spawn } from "node:child_process";
import { constants } from "node:os";
import type { ProcessTree } from "./process-tree.ts";
import type { StepUser } from "./step-user.ts";

export interface StepProcess {
  argv: [program: string, ...args: string[]];
  folder: string;
  env: Record<string, string>;
  /** Where standard output and error go. */
  output: number;
  user: StepUser | null;
}

export interface ProcessEnd {
  /** 128 + N when signal N ended it, as a shell has it. */
  code: number;
  signal: NodeJS.Signals | null;
}

/** Runs a step as the leader of a process group of its own, without input. @throws when it cannot be started. */
export const runProcess = ({ argv, folder, env, output, user }: StepProcess, tree: ProcessTree): Promise<ProcessEnd> =>
  new Promise((resolve, reject) => {
    const [program, ...args] = argv;
    const child = spawn(program, args, {
      cwd: folder,
      env,
      detached: true,
      stdio: ["ignore", output, output],
      ...(user ? { uid: user.uid, gid: user.gid } : {}),
    });
    if (child.pid !== undefined) tree.add(child.pid);
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      resolve({ code: code ?? 128 + (signal ? constants.signals[signal] : 0), signal });
    });
  });
