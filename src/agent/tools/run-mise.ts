import { spawn } from "node:child_process";
import { join } from "node:path";
import { runAs } from "../process/as-user.ts";
import type { ProcessTree } from "../process/process-tree.ts";
import type { StepUser } from "../process/step-user.ts";
import { miseEnvironment } from "./mise-environment.ts";

export interface MiseRun {
  program: string;
  /** Holds all that mise reads and writes. */
  root: string;
  user: StepUser | null;
  tree: ProcessTree;
  /** Milliseconds between SIGTERM and SIGKILL. */
  grace: number;
  signal: AbortSignal;
}

export interface MiseEnd {
  code: number;
  stdout: string;
}

/** Characters of its output that are kept: what is read of it is much shorter. */
const OUTPUT_LIMIT = 1024 * 1024;

/** Milliseconds in which its output arrives after its end. */
const PIPES_MS = 1000;

/**
 * Runs mise as the steps' user. `onLine` gets each line that it prints for people.
 * @throws the signal's reason when it was aborted, after all that mise started has ended
 */
export const runMise = async (
  { program, root, user, tree, grace, signal }: MiseRun,
  args: string[],
  onLine: (line: string) => void,
): Promise<MiseEnd> => {
  signal.throwIfAborted();
  let terminated: Promise<unknown> | null = null;
  const onAbort = (): void => {
    terminated = tree.terminate(grace);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await new Promise<MiseEnd>((resolve, reject) => {
      const child = spawn(program, args, {
        cwd: join(root, "run"),
        env: { ...miseEnvironment(root), ...tree.env },
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
        ...runAs(user),
      });
      child.on("error", reject);
      if (child.pid !== undefined) tree.add(child.pid);
      let stdout = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        stdout = `${stdout}${text}`.slice(0, OUTPUT_LIMIT);
      });
      let rest = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        const lines = `${rest}${text}`.slice(-OUTPUT_LIMIT).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) onLine(line);
      });
      let leftBehind: NodeJS.Timeout | undefined;
      // A process that an installer left behind may hold the pipes open: it is ended, not waited for.
      child.on("exit", () => {
        leftBehind = setTimeout(() => tree.terminate(grace), PIPES_MS);
      });
      child.on("close", (code) => {
        clearTimeout(leftBehind);
        if (rest !== "") onLine(rest);
        resolve({ code: code ?? 1, stdout });
      });
    });
  } finally {
    signal.removeEventListener("abort", onAbort);
    await terminated;
    signal.throwIfAborted();
  }
};
