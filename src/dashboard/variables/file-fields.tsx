import type { Variable } from "../../protocol/variable.ts";
import { readText, SelectField, TextField } from "../parts/fields.tsx";
import type { FormState } from "../shell/page-definition.ts";

const CHOICES = [
  { value: "", label: "the value itself" },
  { value: "text", label: "the path of a file with this text" },
  { value: "base64", label: "the path of a file with these bytes, in base64" },
];

type FileOfVariable = Partial<Pick<Variable, "fileEncoding" | "fileName">>;

/** Shows the fields for a variable's form in a build: its value, or a file. */
export const FileFields = ({ request, fileEncoding, fileName }: FileOfVariable & { request: FormState }) => (
  <>
    <SelectField
      request={request}
      name="fileEncoding"
      label="Builds get"
      value={fileEncoding}
      choices={CHOICES}
      hint="Of a file in base64 the logs mask what you enter here, not the bytes."
    />
    <TextField
      request={request}
      name="fileName"
      label="Name of the file"
      value={fileName}
      hint="Of a file only. Left empty: the key."
    />
  </>
);

/** Returns the fields for the verb. If the form lacks them, returns an empty object. */
export const readFileFields = (form: URLSearchParams) => {
  const encoding = form.get("fileEncoding");
  if (encoding === null) return {};
  return {
    isFile: encoding !== "",
    fileEncoding: encoding === "" ? null : encoding,
    fileName: readText(form, "fileName"),
  };
};

/** Describes the file; null if the variable is not a file. */
export const fileInWords = ({
  key,
  isFile,
  fileEncoding,
  fileName,
}: FileOfVariable & Pick<Variable, "key" | "isFile">) =>
  isFile ? `file ${fileName ?? key}${fileEncoding === "base64" ? ", in base64" : ""}` : null;
