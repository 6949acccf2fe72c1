import { html } from "hono/html";
import type { Child } from "hono/jsx";
import type { Context } from "../services/core/context.ts";
import { assetUrl, type ScriptName } from "./asset-url.ts";
import { KeyboardHelp } from "./components/keyboard-help.tsx";
import { navigationFor } from "./navigation.ts";
import { noticeOf } from "./notices.ts";
import type { View } from "./page-definition.ts";

interface DocumentProps {
  title: string;
  scripts?: ("page.js" | ScriptName)[];
  children?: Child;
}

/** The HTML document of every page. It loads this service's own style and scripts only. */
export const Document = ({ title, scripts = [], children }: DocumentProps) =>
  html`<!doctype html>${(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title} - Millrace</title>
        <link rel="icon" href={assetUrl("mark.svg")} type="image/svg+xml" />
        <link rel="stylesheet" href={assetUrl("page.css")} />
        {scripts.map((name) => (
          <script type="module" src={assetUrl(name)}></script>
        ))}
      </head>
      <body>{children}</body>
    </html>
  )}`;

interface LayoutProps {
  context: Context;
  view: View;
  /** The `done` of the address: which notice to show. */
  noticeKey: string | null;
}

/** A page for a signed-in person: navigation, notice, the view and the help on keys. */
export const Layout = ({ context, view, noticeKey }: LayoutProps) => {
  const notice = noticeOf(noticeKey);
  return (
    <Document title={view.title} scripts={["page.js", ...(view.script ? [view.script] : [])]}>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header class="top">
        <a class="brand" href="/app/builds">
          <img src={assetUrl("mark.svg")} alt="" width="20" height="20" />
          Millrace
        </a>
        <span class="org">{context.orgId}</span>
        <nav aria-label="Pages">
          {navigationFor(context).map(({ section, href, name, key }) => (
            <a href={href} aria-current={section === view.section ? "page" : undefined} data-key={key}>
              {name}
            </a>
          ))}
        </nav>
        <div class="me">
          <button type="button" class="quiet" popovertarget="keys" data-key="?" aria-label="Keys">
            ?
          </button>
          <span class="role">{context.admitted.role}</span>
          <form method="post" action="/app/sign-out">
            <button type="submit" class="quiet">
              Sign out
            </button>
          </form>
        </div>
      </header>
      {notice && (
        <p class="notice" role="status">
          {notice}
        </p>
      )}
      <main id="main" tabindex={-1} data-again={view.refreshSeconds} data-state={view.state}>
        {view.body}
      </main>
      <KeyboardHelp pages={navigationFor(context)} />
    </Document>
  );
};
