import { v7 as uuid } from "uuid";
import type { Config } from "../../config.ts";
import { databaseOf } from "../../db/database-of.ts";
import { DatabaseSession } from "../../db/session.ts";
import type { AgentPool } from "../../objects/pool/agent-pool.ts";
import type { Feature } from "../../protocol/jobs.ts";
import type { Access, Admitted, Caller } from "./access.ts";
import { Admission } from "./admission.ts";
import { Keys } from "./keys.ts";
import { ObjectStubs } from "./object-stubs.ts";

/** The request's headers; null if a header is absent. */
export interface RequestHeaders {
  /** The ETags in If-Match, which name the versions that the client wants to change. */
  ifMatch: string[] | null;
  idempotencyKey: string | null;
  /** The lease under which an agent reports. */
  lease: number | null;
  /** The id of the agent program's current run. A new id means that the program restarted. */
  bootId: string | null;
  /** The agent program's features beyond the first protocol. */
  features: Feature[];
  /** The Xcode versions on the agent's machine. */
  xcodes: string[];
  /** The grant from an earlier answer, for sending an artifact's parts and its end. */
  grant: string | null;
}

const NO_HEADERS: RequestHeaders = {
  ifMatch: null,
  idempotencyKey: null,
  lease: null,
  bootId: null,
  features: [],
  xcodes: [],
  grant: null,
};

/** The facts about a request before its caller is admitted. */
export interface Opening {
  env: Env;
  config: Config;
  caller: Caller;
  access: Access;
  requestId: string;
  now: Date;
  /** The service's scheme and host, as the caller reaches it. */
  origin: string;
  /** D1's bookmark from an earlier answer. With it, a read sees at least the data behind that answer. */
  bookmark: string | null;
  /** Whether the session begins at D1's primary, as every write requires. */
  writes: boolean;
  headers?: Partial<RequestHeaders>;
  /** Runs work that the answer does not wait for. */
  waitUntil(work: Promise<unknown>): void;
}

/** The parts of a context. Use cases see all parts except the last two. */
interface Parts extends Pick<Opening, "config" | "caller" | "requestId" | "now" | "origin" | "waitUntil"> {
  headers: RequestHeaders;
  db: DatabaseSession;
  objects: ObjectStubs;
  keys: Keys;
  /** The store of ended builds' records and logs. */
  archive: R2Bucket;
  env: Env;
  admission: Admission;
}

/** The tools of a use case during one request. */
export interface Context extends Readonly<Omit<Parts, "env" | "admission">> {
  readonly orgId: string;
  /** The request's time as D1 stores it. */
  readonly at: string;
  /** The caller, once it is admitted. */
  readonly admitted: Admitted;
  readonly actor: string | null;
  admitEarly(): Promise<void>;
  admit(): Promise<Admitted>;
  newId(): string;
  /** Admits the caller, and returns the pool of the caller's organization. */
  pool(): Promise<DurableObjectStub<AgentPool>>;
  /** Returns the same request as if its If-Match named this version. Null stands for a request without If-Match. */
  expectingVersion(version: number | null): Context;
  /** Returns the same request in this organization. Use this for the operator, who has no organization. */
  inOrganization(orgId: string): Context;
}

const toContext = (parts: Parts): Context => {
  const { env, admission, ...shown } = parts;
  const { caller, now, objects, headers } = parts;
  const context: Context = {
    ...shown,
    orgId: caller.orgId,
    at: now.toISOString(),
    get admitted() {
      return admission.admitted;
    },
    get actor() {
      return admission.actor;
    },
    admitEarly: () => admission.admitEarly(),
    admit: () => admission.admit(),
    newId: () => uuid({ msecs: now.getTime() }),
    async pool() {
      await admission.admit();
      return objects.pool(caller.orgId);
    },
    expectingVersion: (version) =>
      toContext({ ...parts, headers: { ...headers, ifMatch: version === null ? null : [entityTag(version)] } }),
    inOrganization(orgId) {
      if (orgId === caller.orgId) return context;
      const db = new DatabaseSession(databaseOf(env, orgId), "first-primary");
      return toContext({ ...parts, caller: { ...caller, orgId }, db });
    },
  };
  return context;
};

export const newContext = (opening: Opening): Context => {
  const { access: _access, bookmark, writes, ...parts } = opening;
  const { env, caller } = parts;
  const constraint = writes ? "first-primary" : (bookmark ?? "first-unconstrained");
  const db = new DatabaseSession(databaseOf(env, caller.orgId), constraint);
  const objects = new ObjectStubs(env);
  return toContext({
    ...parts,
    headers: { ...NO_HEADERS, ...opening.headers },
    db,
    objects,
    keys: new Keys(env, db),
    archive: env.ARCHIVE,
    admission: new Admission({ ...opening, db, objects }),
  });
};

/** Returns the ETag of a record in this version. */
export const entityTag = (version: number): string => `"v${version}"`;

/** Returns the caller and the request in the form in which the pool writes them to the audit. */
export const actorOf = ({ admitted, requestId }: Context) => ({ actor: admitted.actor, requestId });
