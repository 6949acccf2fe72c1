import type { NamedTool, ToolsTemplate } from "./plan.ts";
import type { TemplateParser } from "./template-parser.ts";
import type { WrittenTools } from "./tool-fields.ts";

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
