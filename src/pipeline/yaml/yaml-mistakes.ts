import type { ErrorCode } from "yaml";

/** An error of the YAML library, with its offset in the file. */
export interface YamlError {
  offset: number;
  code: ErrorCode;
  message: string;
}

const BY_CODE: Partial<Record<ErrorCode, string>> = {
  BAD_ALIAS: "This alias has no anchor before it",
  BAD_DQ_ESCAPE: "There is no such escape in double quotes: write single quotes, or a second backslash",
  BAD_INDENT: "The indentation does not match the lines above",
  BAD_SCALAR_START: "A value cannot begin with this character: put it in quotes",
  BLOCK_AS_IMPLICIT_KEY: "A value with `: ` in it needs quotes around it",
  BLOCK_IN_FLOW: "Inside { } or [ ] write mappings and lists with { } and [ ]",
  MISSING_CHAR: "Something is missing here: a `:` after a key, a space, a comma or a closing quote",
  MULTILINE_IMPLICIT_KEY: "A key must be on one line, with a `:` after it",
  MULTIPLE_DOCS: "A pipeline file is one document: leave out the second `---`",
  RESOURCE_EXHAUSTION: "The file is nested too deeply",
  TAB_AS_INDENT: "Indent with spaces, not tabs",
  TAG_RESOLVE_FAILED: "What begins with `!` is a tag in YAML: put quotes or ${{ }} around the whole value",
};

export const isUnclosedQuote = (error: YamlError): boolean => /^Missing closing ['"]quote/.test(error.message);

/** Whether the error is about the braces of an unquoted expression: all later errors follow from it. */
export const isBareExpression = (error: YamlError, source: string): boolean =>
  source.startsWith("${{", error.offset - 1);

/** The message for an error of the YAML library, whose own messages quote the file. */
export const yamlMessage = (error: YamlError, source: string): string => {
  if (isBareExpression(error, source)) return "Inside { } or [ ] put quotes around a value with ${{ }} in it";
  if (isUnclosedQuote(error)) return "This text has no closing quote";
  if (/end with a [\]}]/.test(error.message))
    return "A [ or { before this is never closed, or what is in it is not indented";
  if (/item without - indicator/.test(error.message)) return "The indentation does not match the lines above";
  if (/^Unexpected .* at node end/.test(error.message))
    return "The value ends before this: put quotes around the whole value";
  return BY_CODE[error.code] ?? "This is not valid YAML";
};
