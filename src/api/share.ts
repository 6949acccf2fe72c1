import type { Context, Hono } from "hono";
import { fileAt, openAddress, sharedWhole } from "../services/artifact-shares.ts";
import { checkAddressRate } from "../services/core/rate-limit.ts";
import { notFound } from "../services/core/refusal.ts";
import type { AppEnv } from "../web/app-env.ts";
import { bytesAnswer, INERT_FILE, saveAs } from "../web/artifact-bytes.ts";
import { zipAnswer } from "../web/zip-answer.ts";

/** The whole that an address shares, or one file of it: for whoever has the address, without a token. */
const showShared = async (c: Context<AppEnv>): Promise<Response> => {
  await checkAddressRate(c.env, c.req.header("CF-Connecting-IP") ?? "");
  const opened = await openAddress(c.env, "share", c.req.param("token") ?? "", Date.now());
  const path = c.req.param("path");
  const whole = path === undefined ? sharedWhole(c.env, opened) : fileAt(c.env, opened, path);
  if (!whole) throw notFound();
  if ("body" in whole) return zipAnswer(c, whole, `${opened.facts.name ?? "artifact"}.zip`);
  return bytesAnswer(c, whole, { ...INERT_FILE, "Content-Disposition": saveAs(whole.name) });
};

/** `/share/ADDRESS` and the files below it. */
export const mountShares = (app: Hono<AppEnv>): void => {
  app.get("/share/:token", showShared);
  app.get("/share/:token/:path{.+}", showShared);
};
