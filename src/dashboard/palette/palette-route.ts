import type { Hono } from "hono";
import { Branch } from "../../protocol/repository.ts";
import type { AppEnv } from "../../web/app-env.ts";
import { openRequest } from "../open-request.ts";
import { paletteRows } from "./find-rows.ts";

/** What the palette shows, as JSON: `{ rows }`. A word that can be no branch finds nothing. */
export const mountPaletteRoute = (app: Hono<AppEnv>): void => {
  app.get("/palette", async (c) => {
    const context = await openRequest(c, { role: "viewer" }, false);
    const word = (c.req.query("q") ?? "").trim();
    const rows = word === "" || Branch.safeParse(word).success ? await paletteRows(context, word) : [];
    return c.json({ rows });
  });
};
