import { eq, getTableColumns } from "drizzle-orm";
import * as z from "zod/mini";
import { connection } from "../../db/schema.ts";
import { cloneOrigin } from "../../domain/clone-url.ts";
import { connectionContext } from "../../domain/seal-context.ts";
import { oneLine } from "../../githosts/core/fields.ts";
import { canonicalHostAddress, cloneUrlAt, hostAddressProblem } from "../../githosts/core/host-address.ts";
import { HostProblem } from "../../githosts/core/host-api.ts";
import { HOSTS } from "../../githosts/hosts.ts";
import { PathId } from "../../protocol/common.ts";
import { Connection, ConnectionChange, ConnectionFilter, NewConnection } from "../../protocol/connection.ts";
import { commit, ensureRoom } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { listing, toPage } from "../core/listing.ts";
import { findOne, makeGetter, nextVersion, updateRow } from "../core/record.ts";
import { invalid } from "../core/refusal.ts";
import { checkOwnOrg, makeUpdateSchema, makeView, verb, versioned, writablePart } from "../core/verb.ts";
import { sealedApp } from "./app-sealing.ts";
import { type ConnectionRow, chooseIssuer, hookToken, hostRefusal } from "./host-access.ts";

const COLUMNS = getTableColumns(connection);

const view = makeView(Connection);
export const connectionRecord = (row: ConnectionRow): Connection =>
  view({ ...row, hasToken: row.auth === "token" && row.sealed !== null });

/** Returns the organization's connection. @throws Refusal not-found, stale-version */
export const findConnection = (context: Context, id: string): Promise<ConnectionRow> =>
  findOne(context, connection, COLUMNS, id);

/** Returns names and addresses, but never the token. */
export const connectionDetail = ({ name, kind, webUrl, apiUrl, auth, isActive }: ConnectionRow) => ({
  name,
  kind,
  webUrl,
  apiUrl,
  auth,
  isActive,
});

interface Addresses {
  webUrl: string;
  apiUrl?: string | null | undefined;
}

/** Converts a host's addresses to their stored form. @throws Refusal invalid */
const checkAddresses = (context: Context, kind: ConnectionRow["kind"], addresses: Addresses) => {
  const reach = { protocols: context.config.CLONE_PROTOCOLS, ownOrigin: context.origin };
  const checked = (pointer: string, address: string): string => {
    const problem = hostAddressProblem(address, reach);
    if (problem) throw invalid(pointer, problem);
    return canonicalHostAddress(address);
  };
  const webUrl = checked("/webUrl", addresses.webUrl);
  const apiUrl = addresses.apiUrl == null ? HOSTS[kind].apiUrl(webUrl) : checked("/apiUrl", addresses.apiUrl);
  return { webUrl, apiUrl, cloneOrigin: cloneOrigin(cloneUrlAt(webUrl, "owner/name")) };
};

const WITHOUT_APP = { appId: null, clientId: null, installationId: null };
/** The values of a connection's columns while it has no token. */
const WITHOUT_TOKEN = { auth: "none", sealed: null, account: null, ...WITHOUT_APP } as const;

/** A connection before the service knows how it authenticates. */
type UnprovenConnection = Omit<ConnectionRow, "auth" | "sealed" | "account">;

/** Seals the token after the host has named the token's owner. @throws Refusal if the host rejects the token */
const sealedToken = async (context: Context, row: UnprovenConnection, token: string) => {
  try {
    const { name } = await HOSTS[row.kind].client({ apiUrl: row.apiUrl, token }).account();
    const sealed = await context.keys.seal(token, connectionContext({ ...row, auth: "token" }));
    return { auth: "token", sealed, account: oneLine(name), ...WITHOUT_APP } as const;
  } catch (error) {
    if (!(error instanceof HostProblem)) throw error;
    const { kind, message } = error;
    if (kind === "token" || kind === "right") throw invalid("/token", message);
    throw kind === "away" ? hostRefusal(error) : invalid("/webUrl", message);
  }
};

export const createConnection = verb({
  access: { role: "admin" },
  body: NewConnection,
  output: Connection,
  async run(context, { body }) {
    await context.admit();
    checkOwnOrg(context, body.orgId);
    const { kind, name, token, app } = body;
    if (token && app) throw invalid("/app", "must not be sent together with a token");
    const blank = {
      id: context.newId(),
      orgId: context.orgId,
      kind,
      name,
      ...checkAddresses(context, kind, body),
      ...WITHOUT_APP,
      sealedVersion: 1,
      hookGeneration: 1,
      isActive: true,
      version: 1,
      createdAt: context.at,
      updatedAt: context.at,
    };
    const proof = app ? sealedApp(context, blank, app) : token ? sealedToken(context, blank, token) : WITHOUT_TOKEN;
    const row: ConnectionRow = { ...blank, ...(await proof) };
    await commit(context, { action: "connection.create", subject: row.id, detail: connectionDetail(row) }, [
      ensureRoom(context, "connections"),
      context.db.sql.insert(connection).values(row),
    ]);
    return versioned(connectionRecord(row), row.version);
  },
});

const connections = listing(connection, COLUMNS, { filters: { name: (name) => eq(connection.name, name) } });

export const listConnections = verb({
  access: { role: "maintainer" },
  query: ConnectionFilter,
  output: z.array(Connection),
  async run(context, { query }) {
    const [rows] = await context.db.run(connections(context, query));
    return toPage(rows, query, connectionRecord);
  },
});

export const getConnection = makeGetter("maintainer", connection, COLUMNS, Connection, connectionRecord);

export const updateConnection = verb({
  access: { role: "admin" },
  params: PathId,
  body: makeUpdateSchema(Connection, ConnectionChange),
  output: Connection,
  async run(context, { params, body }) {
    const row = await findConnection(context, params.id);
    const { token, app, webUrl, apiUrl, ...written } = writablePart(body, ConnectionChange, connectionRecord(row));
    if (token !== undefined && app) throw invalid("/app", "must not be sent together with a token");
    const isMoved = webUrl !== undefined || apiUrl !== undefined;
    // The API's address follows the pages' address unless the request sends its own address for the API.
    const location = { webUrl: webUrl ?? row.webUrl, apiUrl: apiUrl ?? (webUrl === undefined ? row.apiUrl : null) };
    const addresses = isMoved ? checkAddresses(context, row.kind, location) : {};
    const next: ConnectionRow = { ...row, ...written, ...addresses, ...nextVersion(context, row) };
    const isElsewhere = next.webUrl !== row.webUrl || next.apiUrl !== row.apiUrl;
    if (isElsewhere && row.sealed !== null && token === undefined && !app) {
      const what = row.auth === "app" ? "/app" : "/token";
      throw invalid(what, "must be sent again: the stored one is for the previous address");
    }
    if (token === null) Object.assign(next, WITHOUT_TOKEN);
    if (token) {
      next.sealedVersion += 1;
      Object.assign(next, await sealedToken(context, next, token));
    }
    if (app) {
      next.sealedVersion += 1;
      const former = isElsewhere ? null : await hookToken(context, row);
      Object.assign(next, await sealedApp(context, next, { id: chooseIssuer(row), ...app }, former));
    }
    await commit(
      context,
      {
        action: "connection.update",
        subject: row.id,
        detail: { ...connectionDetail(next), hasNewToken: Boolean(token), ...(app ? { hasNewKey: true } : {}) },
      },
      updateRow(context, connection, row, next),
    );
    // Without this call, the object would use its cached values for up to five minutes.
    context.waitUntil(
      context.objects
        .gitHost(context.orgId, row.id)
        .connectionChanged()
        .catch(() => undefined),
    );
    return versioned(connectionRecord(next), next.version);
  },
});
