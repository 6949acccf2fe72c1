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
  waitUntil(work: Promise<unknown>): void;
}

interface Parts extends Omit<Opening, "headers"> {
  headers: RequestHeaders;
  db: DatabaseSession;
  objects: ObjectStubs;
  keys: Keys;
  admission: Admission;
}

/** What a use case has at hand for one request. */
export class Context {
  readonly config: Config;
  readonly caller: Caller;
  readonly requestId: string;
  readonly now: Date;
  readonly origin: string;
  readonly headers: RequestHeaders;
  readonly db: DatabaseSession;
  readonly objects: ObjectStubs;
  readonly keys: Keys;
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.config = parts.config;
    this.caller = parts.caller;
    this.requestId = parts.requestId;
    this.now = parts.now;
    this.origin = parts.origin;
    this.headers = parts.headers;
    this.db = parts.db;
    this.objects = parts.objects;
    this.keys = parts.keys;
  }

  static open(opening: Opening): Context {
    const { env, caller, writes, bookmark } = opening;
    const db = new DatabaseSession(
      databaseOf(env, caller.orgId),
      writes ? "first-primary" : (bookmark ?? "first-unconstrained"),
    );
    const objects = new ObjectStubs(env);
    return new Context({
      ...opening,
      headers: { ...NO_HEADERS, ...opening.headers },
      db,
      objects,
      keys: new Keys(env, db),
      admission: new Admission({ ...opening, db, objects }),
    });
  }

  /** The same request as if its If-Match named this version; null stands for no If-Match. */
  expectingVersion(version: number | null): Context {
    const ifMatch = version === null ? null : [entityTag(version)];
    return new Context({ ...this.#parts, headers: { ...this.headers, ifMatch } });
  }

  /** The same request in this organization: for the operator, who has none. */
  inOrganization(orgId: string): Context {
    if (orgId === this.orgId) return this;
    const { env, caller } = this.#parts;
    const db = new DatabaseSession(databaseOf(env, orgId), "first-primary");
    return new Context({ ...this.#parts, caller: { ...caller, orgId }, db });
  }

  get orgId(): string {
    return this.caller.orgId;
  }

  /** The request's time as D1 stores it. */
  get at(): string {
    return this.now.toISOString();
  }

  newId(): string {
    return uuid({ msecs: this.now.getTime() });
  }

  admitEarly(): Promise<void> {
    return this.#parts.admission.admitEarly();
  }

  admit(): Promise<Admitted> {
    return this.#parts.admission.admit();
  }

  get admitted(): Admitted {
    return this.#parts.admission.admitted;
  }

  get actor(): string | null {
    return this.#parts.admission.actor;
  }

  /** Records and logs of builds that have ended. */
  get archive(): R2Bucket {
    return this.#parts.env.ARCHIVE;
  }

  /** The pool of the caller's organization, after the caller is admitted. */
  async pool(): Promise<DurableObjectStub<AgentPool>> {
    await this.admit();
    return this.objects.pool(this.orgId);
  }

  /** Runs work that the answer does not wait for. */
  waitUntil(work: Promise<unknown>): void {
    this.#parts.waitUntil(work);
  }
}

/** The ETag of a record in this version. */
export const entityTag = (version: number): string => `"v${version}"`;

/** The caller and the request, as the pool writes them to the audit. */
export const actorOf = ({ admitted, requestId }: Context) => ({ actor: admitted.actor, requestId });
