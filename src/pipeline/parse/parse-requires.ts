import type { PLATFORMS, WrittenRequires } from "../fields/agent-fields.ts";
import type { ScalarText } from "../yaml/node-parser.ts";
import type { TemplateParser } from "../yaml/template-parser.ts";
import type { LocatedExpression, RequiresTemplate } from "./plan.ts";

/** A flag, or one expression for it. */
export const flagOf = (
  written: boolean | ScalarText | undefined,
  parser: TemplateParser,
): boolean | LocatedExpression | null => {
  if (written === undefined || typeof written === "boolean") return written ?? null;
  if (written.text.includes("${{")) return parser.condition(written, "mistake");
  parser.mistake(written.node, 0, "This must be true or false, or one ${{ }}");
  return null;
};

const platformOf = (written: (typeof PLATFORMS)[number] | ScalarText | undefined, parser: TemplateParser) =>
  typeof written === "object" ? parser.template(written) : (written ?? null);

const labelOf = (written: ScalarText, parser: TemplateParser) => parser.template(written);

/** What a job requires of its agent, with expressions in it. */
export const requiresOf = (written: WrittenRequires | undefined, parser: TemplateParser): RequiresTemplate => ({
  platform: platformOf(written?.platform, parser),
  ios: flagOf(written?.ios, parser),
  android: flagOf(written?.android, parser),
  web: flagOf(written?.web, parser),
  labels: written?.labels?.map((label) => labelOf(label, parser)) ?? null,
  xcode: null,
});

/** What the file requires for all its jobs, where a job says nothing else. */
export const mergedRequires = (own: RequiresTemplate, outer: RequiresTemplate): RequiresTemplate => ({
  platform: own.platform ?? outer.platform,
  ios: own.ios ?? outer.ios,
  android: own.android ?? outer.android,
  web: own.web ?? outer.web,
  labels: own.labels ?? outer.labels,
  xcode: own.xcode ?? outer.xcode,
});
