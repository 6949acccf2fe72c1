import { isMap, isScalar, type Node } from "yaml";
import { closestName } from "../../domain/closest-name.ts";
import { record } from "../yaml/mapping-parser.ts";
import { either, type NodeParser, type ParsedBy } from "../yaml/node-parser.ts";
import { choice, text } from "../yaml/scalar-parsers.ts";
import { FILE_LIMITS } from "./limits.ts";
import { isToolName, LONGEST_TOOL_NAME, toolNameProblem, versionProblem, XCODE, xcodeProblem } from "./tool-words.ts";

const NAME = {
  pattern: new RegExp(`^.{1,${LONGEST_TOOL_NAME}}$`),
  message: `The name of a tool has at most ${LONGEST_TOOL_NAME} characters`,
};

const NAMED = record(NAME, text(false, 'the version, for example "24"'));

/** Names and versions; every name is known, and every version that has no expression can be one. */
const NAMED_TOOLS: typeof NAMED = {
  schema: { ...NAMED.schema, minProperties: 1, maxProperties: FILE_LIMITS.tools },
  parse(node, context) {
    const tools = NAMED.parse(node, context);
    const found = context.resolve(node);
    if (isMap(found) && found.items.length === 0) context.mistake(node, "This must not be empty");
    if (tools && tools.length > FILE_LIMITS.tools)
      context.mistake(node, `A job has at most ${FILE_LIMITS.tools} tools`);
    for (const { key, node: at, value } of tools ?? []) {
      const wrongName = toolNameProblem(key);
      const wrongVersion = value.text.includes("${{") ? null : problemOf(key, value.text);
      if (wrongName !== null) context.mistake(at, wrongName.message, closestName(key, wrongName.known));
      else if (wrongVersion !== null) context.mistake(value.node, wrongVersion);
    }
    return tools?.filter(({ key }) => isToolName(key));
  },
};

const problemOf = (name: string, version: string): string | null =>
  name === XCODE ? xcodeProblem(version) : versionProblem(version);

const isWord = (node: Node): boolean => isScalar(node);

/** `tools`: what is set up before the first step. */
export const TOOLS: NodeParser<"auto" | ParsedBy<typeof NAMED>> = either(choice<"auto">("auto"), isWord, NAMED_TOOLS);
export type WrittenTools = ParsedBy<typeof TOOLS>;
