import { readFileSync, statSync } from "node:fs";
import { EXIT, ExitError } from "./exit-codes.ts";

/**
 * Reads the registration token from a file that no other user can read, or from standard input (`-`). In an argument
 * or a variable, other processes of the machine could read it.
 */
export const readToken = (file: string): string => {
  const token = (file === "-" ? readFileSync(0, "utf8") : readPrivateFile(file)).trim();
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new ExitError("--token-file must contain one token and nothing else", EXIT.usage);
};

const readPrivateFile = (file: string): string => {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile()) throw new ExitError(`--token-file: ${file} is not a file`, EXIT.usage);
  if ((stat.mode & 0o077) !== 0)
    throw new ExitError(`--token-file: other users can read ${file}: run chmod 600 ${file} first`, EXIT.usage);
  return readFileSync(file, "utf8");
};
