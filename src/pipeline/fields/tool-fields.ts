import { isMap, isScalar, type Node } from "yaml";
import { closestName } from "../../domain/closest-name.ts";
import { XcodeVersion } from "../../protocol/xcodes.ts";
import { record } from "../yaml/collection-parsers.ts";
import { either, type NodeParser, type ParsedBy } from "../yaml/node-parser.ts";
import { choice, text } from "../yaml/scalar-parsers.ts";
import { FILE_LIMITS } from "./limits.ts";
import { REGISTRY_NAMES } from "./tool-names.ts";

/*
 * The valid names of tools and their versions. Both reach a program's configuration, where nothing in them has a
 * special meaning.
 */

/** Xcode is not a tool to set up. The agent reports the versions on its machine. */
export const XCODE = "xcode";

/** Other names for tools, as other programs write them. */
const OTHER_NAMES = new Map([
  ["nodejs", "node"],
  ["golang", "go"],
  ["jdk", "java"],
  ["python3", "python"],
  ["rustc", "rust"],
]);

/** Sources of packages, as in `npm:prettier`. A source that runs code from its own repository is not allowed. */
const PACKAGE_KINDS = [
  "npm",
  "pipx",
  "cargo",
  "go",
  "gem",
  "dotnet",
  "aqua",
  "github",
  "gitlab",
  "conda",
  "spm",
  "ubi",
];
const PACKAGE = /^[A-Za-z0-9@](?!.*\.\.)[A-Za-z0-9@._+/-]*$/;

const LONGEST_TOOL_NAME = 200;
const VERSION = /^[A-Za-z0-9](?!.*\.\.)[A-Za-z0-9._+-]{0,99}$/;

/** Returns mise's name for a tool. */
export const toolName = (name: string): string => OTHER_NAMES.get(name) ?? name;

const packageProblem = (name: string): string | null => {
  const [kind = "", rest = ""] = [name.slice(0, name.indexOf(":")), name.slice(name.indexOf(":") + 1)];
  if (!PACKAGE_KINDS.includes(kind)) return `Before the colon, write one of: ${PACKAGE_KINDS.join(", ")}`;
  return PACKAGE.test(rest) ? null : "After the colon, write the name of a package";
};

/** Returns why no tool has this name; null if a tool has it. `similar` are names that the author may have meant. */
const toolNameProblem = (name: string): { message: string; similar: Iterable<string> } | null => {
  if (name === XCODE || REGISTRY_NAMES.has(name)) return null;
  if (name.length <= LONGEST_TOOL_NAME && name.includes(":")) {
    const message = packageProblem(name);
    return message === null ? null : { message, similar: [] };
  }
  const other = OTHER_NAMES.get(name);
  return { message: "There is no tool with this name", similar: other === undefined ? REGISTRY_NAMES : [other] };
};

export const isToolName = (name: string): boolean => toolNameProblem(name) === null;

/** Returns why a text cannot be a version of a tool; null if it can. */
export const versionProblem = (version: string): string | null =>
  VERSION.test(version)
    ? null
    : "A version is letters, digits and . _ + - without spaces, for example 24, 3.12.1, lts or temurin-21";

/** Returns why a text cannot be a version of Xcode; null if it can. */
export const xcodeProblem = (version: string): string | null =>
  XcodeVersion.safeParse(version).success ? null : "A version of Xcode is, for example, 26.1";

const NAME = {
  pattern: new RegExp(`^.{1,${LONGEST_TOOL_NAME}}$`),
  message: `The name of a tool has at most ${LONGEST_TOOL_NAME} characters`,
};

const NAMED = record(NAME, text(false, 'the version, for example "24"'));

/** Names and versions of tools. Every name must be known, and every version without an expression must be valid. */
const NAMED_TOOLS: typeof NAMED = {
  schema: { ...NAMED.schema, minProperties: 1, maxProperties: FILE_LIMITS.tools },
  parse(node, context) {
    const tools = NAMED.parse(node, context);
    const target = context.resolve(node);
    if (isMap(target) && target.items.length === 0) context.mistake(node, "This must not be empty");
    if (tools && tools.length > FILE_LIMITS.tools)
      context.mistake(node, `A job has at most ${FILE_LIMITS.tools} tools`);
    for (const { key, node: at, value } of tools ?? []) {
      const wrongName = toolNameProblem(key);
      const wrongVersion = value.text.includes("${{") ? null : toolVersionProblem(key, value.text);
      if (wrongName !== null) context.mistake(at, wrongName.message, closestName(key, wrongName.similar));
      else if (wrongVersion !== null) context.mistake(value.node, wrongVersion);
    }
    return tools?.filter(({ key }) => isToolName(key));
  },
};

const toolVersionProblem = (name: string, version: string): string | null =>
  name === XCODE ? xcodeProblem(version) : versionProblem(version);

const isWord = (node: Node): boolean => isScalar(node);

/** The parser of `tools`, which names the tools to set up before the first step. */
export const TOOLS: NodeParser<"auto" | ParsedBy<typeof NAMED>> = either(choice<"auto">("auto"), isWord, NAMED_TOOLS);
export type WrittenTools = ParsedBy<typeof TOOLS>;
