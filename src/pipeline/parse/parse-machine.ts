import type { PLATFORMS, WrittenCheckout, WrittenRequires } from "../fields/agent-fields.ts";
import { type WrittenTools, XCODE, xcodeProblem } from "../fields/tool-fields.ts";
import type { ScalarText } from "../yaml/node-parser.ts";
import type { TemplateParser } from "../yaml/template-parser.ts";
import type { ParseContext } from "./parse-context.ts";
import type { Checkout, LocatedExpression, NamedTool, RequiresTemplate, ToolsTemplate } from "./plan.ts";

/** Parses a flag, or one expression for it. */
export const parseFlag = (
  flag: boolean | ScalarText | undefined,
  parser: TemplateParser,
): boolean | LocatedExpression | null => {
  if (flag === undefined || typeof flag === "boolean") return flag ?? null;
  if (flag.text.includes("${{")) return parser.condition(flag, "mistake");
  parser.mistake(flag.node, 0, "This must be true or false, or one ${{ }}");
  return null;
};

const parsePlatform = (platform: (typeof PLATFORMS)[number] | ScalarText | undefined, parser: TemplateParser) =>
  typeof platform === "object" ? parser.template(platform) : (platform ?? null);

const parseLabel = (label: ScalarText, parser: TemplateParser) => parser.template(label);

/** Parses a job's requirements for its agent, with their expressions. */
export const parseRequires = (requires: WrittenRequires | undefined, parser: TemplateParser): RequiresTemplate => ({
  platform: parsePlatform(requires?.platform, parser),
  ios: parseFlag(requires?.ios, parser),
  android: parseFlag(requires?.android, parser),
  web: parseFlag(requires?.web, parser),
  labels: requires?.labels?.map((label) => parseLabel(label, parser)) ?? null,
  xcode: null,
});

/** Merges requirements. The file's requirements apply to all jobs, unless a job overrides them. */
export const mergeTemplates = (own: RequiresTemplate, outer: RequiresTemplate): RequiresTemplate => ({
  platform: own.platform ?? outer.platform,
  ios: own.ios ?? outer.ios,
  android: own.android ?? outer.android,
  web: own.web ?? outer.web,
  labels: own.labels ?? outer.labels,
  xcode: own.xcode ?? outer.xcode,
});

/**
 * Parses how to fetch the commit. `outer` is the file's setting for all its jobs, which applies to anything that `own`
 * omits.
 */
export const parseCheckout = (own?: WrittenCheckout, outer?: WrittenCheckout): Checkout | false => {
  if (own === false || (own === undefined && outer === false)) return false;
  const merged = { ...(outer || {}), ...own };
  const { depth = 1, submodules = false, lfs = false, "fetch-tags": fetchTags = false } = merged;
  return {
    depth,
    submodules: submodules === true ? "direct" : submodules || "none",
    lfs,
    fetchTags,
    ...(merged.path && { path: merged.path }),
    ...(merged.mtimes && { mtimes: merged.mtimes }),
  };
};

const parseNamedTools = (tools: WrittenTools | undefined, parser: TemplateParser): NamedTool[] =>
  typeof tools === "object"
    ? tools.map(({ key, value }) => ({
        name: key,
        version: parser.template(value),
        position: parser.context.positionAt(value.node.range?.[0] ?? 0),
      }))
    : [];

/** Parses the tools of a file or a job; null without tools. */
export const parseTools = (tools: WrittenTools | undefined, parser: TemplateParser): ToolsTemplate | null =>
  tools === "auto" ? "auto" : tools ? parseNamedTools(tools, parser) : null;

/** Merges the tools of a job. The job's own tools precede those of the file. `auto` cannot be combined. */
export const mergeTools = (own: ToolsTemplate | null, outer: ToolsTemplate | null): ToolsTemplate | null => {
  if (own === null || outer === null) return own ?? outer;
  if (own === "auto" || outer === "auto") return own;
  const names = new Set(own.map(({ name }) => name));
  return [...outer.filter(({ name }) => !names.has(name)), ...own];
};

/** Finds Xcode, which the agent does not set up. If an agent does not have it, another agent gets the job. */
export const xcodeIn = (tools: ToolsTemplate | null): NamedTool | null =>
  typeof tools === "object" ? (tools?.find(({ name }) => name === XCODE) ?? null) : null;

/**
 * Returns the Xcode version that a file of steps requires. The version cannot contain expressions, because the service
 * chooses the agent before they are evaluated.
 */
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
