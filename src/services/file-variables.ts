import type { variable } from "../db/schema.ts";
import { isBase64 } from "../domain/file-bytes.ts";
import type { FileEncoding } from "../protocol/file-variable.ts";
import { invalid } from "./core/refusal.ts";

type FileColumns = Pick<typeof variable.$inferSelect, "fileEncoding" | "fileName">;

/** What a request says of the file; a field that it leaves out stays as it is. */
interface FileFields {
  isFile?: boolean | null | undefined;
  fileEncoding?: FileEncoding | null | undefined;
  fileName?: string | null | undefined;
}

const NO_FILE: FileColumns = { fileEncoding: null, fileName: null };

/** The columns of a variable after a request. @throws Refusal invalid where it says of a file what is none */
export const fileColumns = (asked: FileFields, before: FileColumns = NO_FILE): FileColumns => {
  const { isFile = null, fileEncoding = null, fileName = before.fileName } = asked;
  if (isFile ?? before.fileEncoding !== null)
    return { fileEncoding: fileEncoding ?? before.fileEncoding ?? "text", fileName };
  for (const field of ["fileEncoding", "fileName"] as const)
    if (asked[field] != null) throw invalid(`/${field}`, "belongs to a variable with isFile");
  return NO_FILE;
};

/** @throws Refusal invalid for a value that is not in the file's encoding */
export const checkEncoding = ({ fileEncoding }: FileColumns, value: string): void => {
  if (fileEncoding === "base64" && !isBase64(value)) throw invalid("/value", "must be base64, with its padding");
};

/** What records and the audit say of a file; of another variable nothing. */
export const fileFields = ({ fileEncoding, fileName }: FileColumns) =>
  fileEncoding === null
    ? { isFile: undefined, fileEncoding: undefined, fileName: undefined }
    : { isFile: true, fileEncoding, fileName };
