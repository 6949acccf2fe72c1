import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { JobLog } from "../../../../src/agent/log/job-log.ts";

/** Writes hooks into a state folder as its owner would: sh scripts. @returns their folder */
export const writeHooks = (state: string, hooks: Partial<Record<"before-job" | "after-job", string>>): string => {
  mkdirSync(join(state, "hooks"), { recursive: true, mode: 0o700 });
  chmodSync(state, 0o700);
  for (const [name, script] of Object.entries(hooks)) {
    const path = join(state, "hooks", name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o700);
  }
  return join(state, "hooks");
};

/** Creates a build log that keeps its text. */
export const keptLog = (secrets: string[] = []) => {
  let text = "";
  const sink = {
    get size() {
      return text.length;
    },
    write: (bytes: Uint8Array) => {
      text += Buffer.from(bytes).toString();
    },
  };
  const log = new JobLog(secrets, sink, () => {});
  return {
    log,
    text: () => {
      log.flush();
      return text;
    },
  };
};
