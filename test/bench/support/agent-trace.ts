import { ChildProcess } from "node:child_process";
import { appendFileSync } from "node:fs";

/*
 * Loaded before an agent's program (`node --import`): notes when the program calls the service and when its processes
 * start and end, a line each, in the file that TRACE_FILE names. The program itself knows nothing of it.
 */

const { TRACE_FILE = "" } = process.env;

const note = (what: string): void =>
  appendFileSync(TRACE_FILE, `${performance.timeOrigin + performance.now()} ${what}\n`);

/** The verb of a call, without ids. */
const verbOf = (address: string): string => new URL(address).pathname.split("/").at(-1) ?? "";

const { fetch } = globalThis;
globalThis.fetch = async (...request) => {
  const verb = verbOf(String(request[0]));
  note(`${verb} asked`);
  const answer = await fetch(...request);
  note(`${verb} answered`);
  return answer;
};

/** A command of git's, without its settings, or the name of another program. */
const nameOf = (command: string, args: readonly string[]): string => {
  if (command !== "git") return command.split("/").at(-1) ?? command;
  return `git ${args[args.lastIndexOf("-c") + 2]}`;
};

/** What starts every process, with all that it was told. */
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
