import type { Hono } from "hono";
import type { AppEnv } from "../web/app-env.ts";
import { readForm } from "./open-request.ts";
import { ownPath } from "./own-path.ts";
import { rememberTheme } from "./theme.ts";

/** The page that a form came from, by its Referer. */
const pathOf = (referer: string | undefined): string | null => {
  const url = URL.parse(referer ?? "");
  return url && url.pathname + url.search;
};

/** The switch of the theme: a form, so that it works without a script. */
export const mountThemeRoute = (app: Hono<AppEnv>): void => {
  app.post("/theme", async (c) => {
    rememberTheme(c, (await readForm(c)).get("theme"));
    return c.redirect(ownPath(pathOf(c.req.header("Referer"))), 303);
  });
};
