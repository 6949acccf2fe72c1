import files from "../../../dist/assets.json" with { type: "json" };
import type { Theme } from "./cookies.ts";
import type { Child } from "./markup.ts";

export type ScriptName = "build.js" | "definition.js";
type FontName = "inter-latin-wght-normal.woff2" | "jetbrains-mono-latin-wght-normal.woff2";
/** The file of the tab's icon: the service's mark, or the mark of a state. */
type IconFile = "mark.svg" | `mark-${"waiting" | "running" | "asking" | "succeeded" | "failed" | "canceled"}.svg`;
type AssetName = ScriptName | FontName | IconFile | "markdown.js" | "page.js" | "page.css";

/**
 * Returns a compiled file's address. The address contains a hash of the content, so browsers may cache the file
 * forever.
 */
export const assetUrl = (name: AssetName): string => (files as Record<string, string>)[name] ?? "";

/** The form in which the browser's tab shows a state: a sign before the title, and the icon. */
interface Tab {
  sign: string;
  icon: IconFile;
}

const PLAIN: Tab = { sign: "", icon: "mark.svg" };
const WAITING: Tab = { sign: "○ ", icon: "mark-waiting.svg" };
const RUNNING: Tab = { sign: "● ", icon: "mark-running.svg" };
const STOPPED: Tab = { sign: "⊘ ", icon: "mark-canceled.svg" };

const TABS: Record<string, Tab> = {
  queued: WAITING,
  waiting: WAITING,
  pending: WAITING,
  assigned: RUNNING,
  running: RUNNING,
  canceling: RUNNING,
  asking: { sign: "‖ ", icon: "mark-asking.svg" },
  succeeded: { sign: "✓ ", icon: "mark-succeeded.svg" },
  failed: { sign: "✗ ", icon: "mark-failed.svg" },
  canceled: STOPPED,
  dropped: STOPPED,
  skipped: STOPPED,
};

/**
 * Returns the icon for a page about one build or job. Other pages, and states of later releases, get the plain mark.
 */
const tabOf = (state: string | undefined): Tab => (state !== undefined && TABS[state]) || PLAIN;

interface DocumentProps {
  title: string;
  theme: Theme;
  /** The state of the page's subject, which the tab shows. */
  state?: string | undefined;
  scripts?: ("page.js" | ScriptName)[];
  children?: Child;
}

const FONTS = ["inter-latin-wght-normal.woff2", "jetbrains-mono-latin-wght-normal.woff2"] as const;

/** Creates the HTML document of every page. The document loads only this service's own styles, fonts and scripts. */
export const Document = ({ title, theme, state, scripts = [], children }: DocumentProps) => (
  <html lang="en" data-theme={theme === "system" ? undefined : theme}>
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content={theme === "system" ? "light dark" : theme} />
      <title>
        {tabOf(state).sign}
        {title} - Millrace
      </title>
      <link rel="icon" href={assetUrl(tabOf(state).icon)} type="image/svg+xml" />
      <link rel="stylesheet" href={assetUrl("page.css")} />
      {FONTS.map((name) => (
        <link rel="preload" href={assetUrl(name)} as="font" type="font/woff2" crossorigin="anonymous" />
      ))}
      {scripts.map((name) => (
        <script type="module" src={assetUrl(name)}></script>
      ))}
    </head>
    <body>{children}</body>
  </html>
);
