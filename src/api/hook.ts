import type { Context, Hono } from "hono";
import { LIMITS } from "../protocol/limits.ts";
import { checkOrganizationRate } from "../services/core/organization-rate.ts";
import { checkHookRate } from "../services/core/rate-limit.ts";
import { Refusal } from "../services/core/refusal.ts";
import { hookOf, type KnownHook, provenDelivery } from "../services/githost/hook.ts";
import { takeOrKeep } from "../services/githost/kept-arrivals.ts";
import type { AppEnv } from "../web/app-env.ts";
import { readBytes } from "../web/body.ts";
import { openContext } from "../web/open-context.ts";
import { problemResponse } from "../web/problems.ts";

/** In a function of its own, so that the body is let go of before anything is waited for. */
const readProven = async ({ raw }: Context<AppEnv>["req"], hook: KnownHook) =>
  provenDelivery(hook, raw.headers, await readBytes(raw, LIMITS.deliveryBytes));

const takeDelivery = async (c: Context<AppEnv>): Promise<Response> => {
  const token = c.req.param("token") ?? "";
  const hook = await hookOf(c.env, token);
  await checkHookRate(c.env, token);
  if (!/^application\/json\s*(;|$)/i.test(c.req.header("Content-Type") ?? "")) {
    throw new Refusal("unsupported-media-type", "Set the hook's content type to application/json.");
  }
  const { id, event, arrival } = await readProven(c.req, hook);
  const { orgId, connectionId, generation } = hook;
  // Only of those with a proof, so that nobody who knows an address uses up what the organization may deliver.
  await checkOrganizationRate(c.env, orgId, "hooks");
  const context = openContext(c, {
    caller: { kind: "connection", orgId, tokenHash: "", connectionId },
    access: { connection: true },
    writes: true,
    bookmark: null,
    headers: {},
  });
  await context.admit();
  const sent = { connectionId, generation, id: id ?? context.newId(), event, arrival };
  return c.json(await takeOrKeep(context, sent), 202);
};

/**
 * `POST /hook/{token}`: deliveries of git hosts, whose proof is their signature. A forged address or delivery costs no
 * call to the database or an object.
 */
export const mountHook = (app: Hono<AppEnv>): void => {
  app.post("/hook/:token", takeDelivery);
  app.all("/hook/:token", (c) => {
    const refused = problemResponse(new Refusal("method-not-allowed", "See Allow."), c.get("requestId"));
    refused.headers.set("Allow", "POST");
    return refused;
  });
};
