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

/** What the headers of a request ask for; null where a header is absent. */
export interface RequestHeaders {
  /** The ETags of If-Match: the versions that the client will change. */
  ifMatch: string[] | null;
  idempotencyKey: string | null;
  /** The lease under which an agent reports. */
  lease: number | null;
  /** The agent program's id for its present run: a new one means that it was restarted. */
  bootId: string | null;
  /** What the agent program can do beyond the first protocol. */
  features: Feature[];
  /** Versions of Xcode on the agent's machine. */
  xcodes: string[];
  /** What an earlier answer granted, for the parts and the end of an artifact. */
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

/** What is known of a request before its caller is admitted. */
export interface Opening {
  env: Env;
  config: Config;
  caller: Caller;
  access: Access;
  requestId: string;
  now: Date;
  /** Scheme and host of the service as the caller reaches it. */
  origin: string;
  /** D1's bookmark of an earlier answer: a read sees at least what that answer saw. */
  bookmark: string | null;
  /** Whether the session begins at D1's primary, as every write must. */
  writes: boolean;
  headers?: Partial<RequestHeaders>;
  /** Runs work that the answer does not wait for. */
  waitUntil(work: Promise<unknown>): void;
}

/** What a context is made of. The use cases see all but the last two. */
interface Parts extends Pick<Opening, "config" | "caller" | "requestId" | "now" | "origin" | "waitUntil"> {
  headers: RequestHeaders;
  db: DatabaseSession;
  objects: ObjectStubs;
  keys: Keys;
  /** Records and logs of builds that have ended. */
  archive: R2Bucket;
  env: Env;
  admission: Admission;
}

/** What a use case has at hand for one request. */
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
  /** The pool of the caller's organization, after the caller is admitted. */
  pool(): Promise<DurableObjectStub<AgentPool>>;
  /** The same request as if its If-Match named this version; null stands for no If-Match. */
  expectingVersion(version: number | null): Context;
  /** The same request in this organization: for the operator, who has none. */
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

/** The ETag of a record in this version. */
export const entityTag = (version: number): string => `"v${version}"`;

/** The caller and the request, as the pool writes them to the audit. */
export const actorOf = ({ admitted, requestId }: Context) => ({ actor: admitted.actor, requestId });
