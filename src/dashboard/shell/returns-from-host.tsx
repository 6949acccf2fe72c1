import type { Hono } from "hono";
import type { AppEnv } from "../../web/app-env.ts";
import { readTheme, type Theme } from "./cookies.ts";
import { assetUrl, Document } from "./document.tsx";
import type { HonoCall } from "./open-request.ts";

interface ReturnProps {
  theme: Theme;
  heading: string;
  text: string;
  action: string;
  fields: Record<string, string>;
}

/** Shows a page without a session, with one button that continues. */
const ReturnPage = ({ theme, heading, text, action, fields }: ReturnProps) => (
  <Document title={heading} theme={theme}>
    <main id="main" class="narrow">
      <h1>
        <img src={assetUrl("mark.svg")} alt="" width="28" height="28" /> {heading}
      </h1>
      <p>{text}</p>
      <form method="post" action={action} class="stack">
        {Object.entries(fields).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <button type="submit" class="primary" autofocus>
          Continue
        </button>
      </form>
      <p class="hint">If you were signed out, sign in, then return to this page within an hour.</p>
    </main>
  </Document>
);

/*
 * The pages to which GitHub sends a person back. The browser sends no session cookie from another site. These pages
 * therefore know nobody, change nothing, and have a button. The button's request comes from this site.
 */

const continueToApp = (c: HonoCall) => {
  const page = (
    <ReturnPage
      theme={readTheme(c)}
      heading="GitHub App created"
      text="Continue to fetch its key from GitHub and store it encrypted."
      action="/app/connections/github/made"
      fields={{ code: c.req.query("code") ?? "", state: c.req.query("state") ?? "" }}
    />
  );
  return c.html(page.html);
};

const installed = (c: HonoCall) => {
  const page = (
    <ReturnPage
      theme={readTheme(c)}
      heading="Back from GitHub"
      text="Continue to check where the GitHub App is installed."
      action={`/app/connections/${encodeURIComponent(c.req.param("id") ?? "")}/installation`}
      fields={{}}
    />
  );
  return c.html(page.html);
};

export const mountReturnsFromHost = (app: Hono<AppEnv>): void => {
  app.get("/connections/github/made", continueToApp);
  app.get("/connections/:id/installed", installed);
};
