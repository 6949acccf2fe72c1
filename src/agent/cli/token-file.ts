import { readFileSync, statSync } from "node:fs";
import { EXIT, ExitError } from "./exit-codes.ts";

/**
 * The registration token from a file that nobody else can read, or from standard input (`-`): an argument or a variable
 * would show it to every process of the machine.
 */
export const readToken = (file: string): string => {
  const token = (file === "-" ? readFileSync(0, "utf8") : readClosed(file)).trim();
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new ExitError("--token-file must hold one token and nothing else", EXIT.usage);
};

const readClosed = (file: string): string => {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile()) throw new ExitError(`--token-file: there is no file ${file}`, EXIT.usage);
  if ((stat.mode & 0o077) !== 0)
    throw new ExitError(`--token-file: others can read ${file}: run chmod 600 ${file} first`, EXIT.usage);
  return readFileSync(file, "utf8");
};
