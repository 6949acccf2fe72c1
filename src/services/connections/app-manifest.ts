import * as z from "zod/mini";
import { connection } from "../../db/schema.ts";
import { HostProblem } from "../../githosts/core/host-problem.ts";
import { convertManifest, type MadeApp } from "../../githosts/github/app.ts";
import { appFormUrl, appManifest, appName } from "../../githosts/github/app-manifest.ts";
import { PathId } from "../../protocol/common.ts";
import { commit } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { nextVersion, updateRow } from "../core/record.ts";
import { invalid, Refusal } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";
import { tellAppHook } from "./app-hooks.ts";
import { sealedKey } from "./app-sealing.ts";
import { connectionDetail, findConnection } from "./connections.ts";
import { settingsOf } from "./hook-settings.ts";
import { type ConnectionRow, hookToken, hostRefusal } from "./host-access.ts";

const NewApp = z.strictObject({
  organization: z.nullable(
    z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,98}$/, "must be the name of an organization at GitHub")),
  ),
});
/** What a browser sends to GitHub: a form with the one field `manifest`, for `action`. */
const AppForm = z.object({ action: z.string(), manifest: z.string() });
const Made = z.strictObject({
  code: z.string().check(z.regex(/^[A-Za-z0-9_-]{1,200}$/, "is not one of GitHub's")),
  state: z.string(),
});

const visitor = ({ orgId, caller }: Context) => ({ orgId, sessionId: caller.sessionId ?? "" });

/** Begins a visit to GitHub, where a person makes an App for the connection. */
export const beginApp = verb({
  access: { role: "admin" },
  params: PathId,
  body: NewApp,
  output: AppForm,
  async run(context, { params, body }) {
    const row = await findConnection(context, params.id);
    if (row.kind !== "github") throw new Refusal("conflict", "Only GitHub has Apps.");
    const { origin, orgId } = context;
    const state = await context.keys.appStates.grant({ ...visitor(context), connectionId: row.id }, Date.now());
    const { url: hookUrl } = await settingsOf(context, row);
    const manifest = appManifest({ name: appName(orgId), origin, connectionId: row.id, hookUrl });
    return { action: appFormUrl(row.webUrl, body.organization, state), manifest: JSON.stringify(manifest) };
  },
});

/** GitHub answers a code once: the App may be here already, by the same visit. */
const conversionOf = async (context: Context, row: ConnectionRow, code: string): Promise<MadeApp | null> => {
  try {
    return await convertManifest(row.apiUrl, code);
  } catch (error) {
    if (!(error instanceof HostProblem) || error.kind === "away") throw hostRefusal(error);
    if ((await findConnection(context, row.id)).auth === "app") return null;
    throw new Refusal("conflict", "GitHub does not know this App: make it again, and come back within an hour.");
  }
};

/**
 * Takes the App over that a person has made. Its key is sealed at once, and shown to nobody. A visit that comes back
 * twice makes nothing twice.
 */
export const takeApp = verb({
  access: { role: "admin" },
  body: Made,
  output: PathId,
  async run(context, { body }) {
    await context.admit();
    const id = await context.keys.appStates.recognize(body.state, visitor(context), Date.now());
    if (id === undefined) throw invalid("/state", "is of another session, or of more than an hour ago: begin again");
    const row = await findConnection(context, id);
    if (row.auth === "app") return { id };
    const made = await conversionOf(context, row, body.code);
    if (!made) return { id };
    const next = { ...row, sealedVersion: row.sealedVersion + 1, ...nextVersion(context, row) };
    const { id: appId, clientId, key } = made;
    const taken: ConnectionRow = {
      ...next,
      ...{ auth: "app", appId, clientId, installationId: null, account: null },
      sealed: await sealedKey(context, next, key, await hookToken(context, row)),
    };
    await commit(
      context,
      { action: "connection.update", subject: id, detail: { ...connectionDetail(taken), hasNewKey: true } },
      updateRow(context, connection, row, taken),
    );
    await context.objects.gitHost(context.orgId, id).connectionChanged();
    await tellAppHook(context, taken, await settingsOf(context, taken));
    return { id };
  },
});
