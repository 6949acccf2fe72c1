import type { Variable } from "../../protocol/variable.ts";
import { readText, SelectField, TextField } from "../parts/fields.tsx";
import type { FormState } from "../shell/page-definition.ts";

const CHOICES = [
  { value: "", label: "the value" },
  { value: "text", label: "the path to a file with this text" },
  { value: "base64", label: "the path to a file with the bytes decoded from this base64" },
];

type FileOfVariable = Partial<Pick<Variable, "fileEncoding" | "fileName">>;

/** Shows the fields for the form that a variable has in a build: its value, or a file. */
export const FileFields = ({ request, fileEncoding, fileName }: FileOfVariable & { request: FormState }) => (
  <>
    <SelectField
      request={request}
      name="fileEncoding"
      label="Builds get"
      value={fileEncoding}
      choices={CHOICES}
      hint="For base64 files, logs mask the text that you enter here, not the decoded bytes."
    />
    <TextField
      request={request}
      name="fileName"
      label="File name"
      value={fileName}
      hint="For files only. Leave the field empty to use the key."
    />
  </>
);

/** Returns the fields for the verb. Returns an empty object if the form lacks the fields. */
export const readFileFields = (form: URLSearchParams) => {
  const encoding = form.get("fileEncoding");
  if (encoding === null) return {};
  return {
    isFile: encoding !== "",
    fileEncoding: encoding === "" ? null : encoding,
    fileName: readText(form, "fileName"),
  };
};

/** Describes the file; returns null if the variable is not a file. */
export const fileInWords = ({
  key,
  isFile,
  fileEncoding,
  fileName,
}: FileOfVariable & Pick<Variable, "key" | "isFile">) =>
  isFile ? `file ${fileName ?? key}${fileEncoding === "base64" ? ", in base64" : ""}` : null;
