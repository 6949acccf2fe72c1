import files from "../../../dist/assets.json" with { type: "json" };

export type ScriptName = "build.js" | "definition.js";
type FontName = "inter-latin-wght-normal.woff2" | "jetbrains-mono-latin-wght-normal.woff2";
/** The icon of the tab: the service's, or that of a state. */
export type IconFile =
  | "mark.svg"
  | `mark-${"waiting" | "running" | "asking" | "succeeded" | "failed" | "canceled"}.svg`;
type AssetName = ScriptName | FontName | IconFile | "markdown.js" | "page.js" | "page.css";

/** The address of a compiled file. It holds a hash of the content, so browsers may cache it for ever. */
export const assetUrl = (name: AssetName): string => (files as Record<string, string>)[name] ?? "";
