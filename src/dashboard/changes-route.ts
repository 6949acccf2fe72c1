import type { Hono } from "hono";
import { changesAddress } from "../services/changes-address.ts";
import type { AppEnv } from "../web/app-env.ts";
import { openRequest } from "./open-request.ts";

/** Leads to the git host's page of what a build's commit changes: only who asks for it pays for the address. */
export const mountChangesRoute = (app: Hono<AppEnv>): void => {
  app.get("/builds/:id/changes", async (c) => {
    const context = await openRequest(c, { role: "viewer" }, false);
    return c.redirect(await changesAddress(context, c.req.param("id")), 302);
  });
};
