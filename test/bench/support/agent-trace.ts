import { ChildProcess } from "node:child_process";
import { appendFileSync } from "node:fs";

/*
 * Loads before an agent's program (`node --import`). Writes to TRACE_FILE, one line each, when the program calls the
 * service and when its processes start and end. The program itself does not know about it.
 */

const { TRACE_FILE = "" } = process.env;

const note = (what: string): void =>
  appendFileSync(TRACE_FILE, `${performance.timeOrigin + performance.now()} ${what}\n`);

/** Returns a call's verb, without ids. */
const verbOf = (address: string): string => new URL(address).pathname.split("/").at(-1) ?? "";

const { fetch } = globalThis;
globalThis.fetch = async (...request) => {
  const verb = verbOf(String(request[0]));
  note(`${verb} asked`);
  const answer = await fetch(...request);
  note(`${verb} answered`);
  return answer;
};

/** Returns a git command without its settings, or another program's name. */
const nameOf = (command: string, args: readonly string[]): string => {
  if (command !== "git") return command.split("/").at(-1) ?? command;
  return `git ${args[args.lastIndexOf("-c") + 2]}`;
};

/** The prototype whose `spawn` starts every process, with all its arguments. */
const { prototype } = ChildProcess as unknown as {
  prototype: ChildProcess & { spawn(options: { file: string; args: string[] }): unknown };
};
const { spawn } = prototype;
prototype.spawn = function (options) {
  const name = nameOf(options.file, options.args.slice(1));
  note(`${name} started`);
  this.once("exit", () => note(`${name} ended`));
  return spawn.call(this, options);
};
