import type { WrittenTools } from "../fields/tool-fields.ts";
import { XCODE, xcodeProblem } from "../fields/tool-words.ts";
import type { TemplateParser } from "../yaml/template-parser.ts";
import type { ParseContext } from "./parse-context.ts";
import type { NamedTool, ToolsTemplate } from "./plan.ts";

const named = (written: WrittenTools | undefined, parser: TemplateParser): NamedTool[] =>
  typeof written === "object"
    ? written.map(({ key, value }) => ({
        name: key,
        version: parser.template(value),
        position: parser.context.positionAt(value.node.range?.[0] ?? 0),
      }))
    : [];

/** The tools that a file or a job names; null for none. */
export const toolsOf = (written: WrittenTools | undefined, parser: TemplateParser): ToolsTemplate | null =>
  written === "auto" ? "auto" : written ? named(written, parser) : null;

/** The tools of a job: its own stand before those of the file. `auto` stands alone. */
export const mergedTools = (own: ToolsTemplate | null, outer: ToolsTemplate | null): ToolsTemplate | null => {
  if (own === null || outer === null) return own ?? outer;
  if (own === "auto" || outer === "auto") return own;
  const names = new Set(own.map(({ name }) => name));
  return [...outer.filter(({ name }) => !names.has(name)), ...own];
};

/** Xcode is no tool that is set up: an agent has it, or another one gets the job. */
export const xcodeIn = (tools: ToolsTemplate | null): NamedTool | null =>
  typeof tools === "object" ? (tools?.find(({ name }) => name === XCODE) ?? null) : null;

/** The version that a file of steps requires. Nothing can be put in its place there: the agent is chosen without it. */
export const plainXcode = (tools: ToolsTemplate | null, context: ParseContext): string | null => {
  const version = xcodeIn(tools)?.version;
  if (!version) return null;
  const [text] = version;
  if (version.length === 1 && typeof text === "string") return xcodeProblem(text) === null ? text : null;
  const expression = version.find((part) => typeof part !== "string");
  const at = expression?.positionAt(0);
  if (at)
    context.mistakes.push({ ...at, message: "A file of steps names its Xcode in plain text: write `jobs` for ${{ }}" });
  return null;
};
