import type { Hono } from "hono";
import type { AppEnv } from "../web/app-env.ts";
import type { HonoCall } from "./open-request.ts";
import { ReturnPage } from "./pages/connections/return.tsx";
import { themeOf } from "./theme.ts";

/*
 * Where GitHub sends a person back to. The browser sends no cookie of the session along from another site, so these
 * pages know nobody, change nothing, and have a button: what it sends comes from this site.
 */

const made = (c: HonoCall) =>
  c.html(
    <ReturnPage
      theme={themeOf(c)}
      heading="The App is made"
      text="Millrace takes its key from GitHub now, and seals it."
      action="/app/connections/github/made"
      fields={{ code: c.req.query("code") ?? "", state: c.req.query("state") ?? "" }}
    />,
  );

const installed = (c: HonoCall) =>
  c.html(
    <ReturnPage
      theme={themeOf(c)}
      heading="Back from GitHub"
      text="Millrace asks GitHub now where the App is installed."
      action={`/app/connections/${encodeURIComponent(c.req.param("id") ?? "")}/installation`}
      fields={{}}
    />,
  );

export const mountReturnsFromHost = (app: Hono<AppEnv>): void => {
  app.get("/connections/github/made", made);
  app.get("/connections/:id/installed", installed);
};
