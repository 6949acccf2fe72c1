import * as z from "zod/mini";
import { LIMITS } from "./limits.ts";

/** What a variable of type file stores: the text of the file, or its bytes in base64 (RFC 4648, section 4). */
export const FileEncoding = z.enum(["text", "base64"]);
export type FileEncoding = z.infer<typeof FileEncoding>;

/** What is wrong with the name of a file in a folder of its own; null for a name that every agent can make. */
export const fileNameProblem = (name: string): string | null => {
  if (name === "" || name === "." || name === "..") return "must be the name of a file";
  if (/[/\x00-\x1f\x7f-\x9f]/.test(name)) return "must not have a slash or control characters";
  if (!name.isWellFormed()) return "must not have half characters";
  return new TextEncoder().encode(name).length > LIMITS.fileNameBytes
    ? `must have at most ${LIMITS.fileNameBytes} bytes`
    : null;
};

export const FileName = z.string().check((context) => {
  const problem = fileNameProblem(context.value);
  if (problem !== null) context.issues.push({ code: "custom", message: problem, input: context.value });
});

/** A file of a build's environment. Its variable has the path at which the agent wrote it; no `name`: that of the variable. */
export const HandedFile = z.object({
  encoding: FileEncoding,
  text: z.string(),
  name: z.optional(z.string()),
});
export type HandedFile = z.infer<typeof HandedFile>;
