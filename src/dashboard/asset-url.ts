import files from "../../dist/assets.json" with { type: "json" };

export type ScriptName = "build.js" | "definition.js";
type Name = ScriptName | "markdown.js" | "page.js" | "page.css" | "mark.svg";

/** The address of a compiled file, which changes with its content. */
export const assetUrl = (name: Name): string => (files as Record<string, string>)[name] ?? "";
