import files from "../../dist/assets.json" with { type: "json" };

export type ScriptName = "build.js" | "definition.js";
type AssetName = ScriptName | "markdown.js" | "page.js" | "page.css" | "mark.svg";

/** The address of a compiled file. It holds a hash of the content, so browsers may cache it for ever. */
export const assetUrl = (name: AssetName): string => (files as Record<string, string>)[name] ?? "";
