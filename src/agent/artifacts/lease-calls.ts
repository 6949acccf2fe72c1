import type * as z from "zod/mini";
import { CONTENT_SHA256_HEADER, GRANT_HEADER, type OpenedUpload, SentPart } from "../../protocol/artifact.ts";
import { MINUTE_MS } from "../../protocol/units.ts";
import { Cancel } from "../build/failure.ts";
import { isLeaseLost } from "../wire/build-calls.ts";
import { type ApiAnswer, type ApiClient, type ApiRequest, problemsIn, Unreachable } from "../wire/client.ts";

/** The service rejects a request to keep or fetch an artifact. The message gives the reason. */
export class ArtifactRefused extends Error {
  readonly status: number | null;
  constructor(status: number | null, message: string) {
    super(message);
    this.status = status;
  }
}

/** With these tries, a call lasts some ten minutes, many times as long as a restart of the service takes. */
const TRIES = 14;

interface LeaseCallsOptions {
  client: ApiClient;
  /** Id of the held job. */
  id: string;
  lease: number;
  /** Aborted when the build must stop. The agent then sends nothing more. */
  signal: AbortSignal;
  /** Called when the service reports that this agent has lost the lease. */
  onLeaseLost: () => void;
}

/** Maximum milliseconds for a part: 32 MiB at half a megabit a second. */
export const PART_TIMEOUT = 10 * MINUTE_MS;

export type Opened = OpenedUpload & { id: string };

/** Calls that send and fetch the held job's files. @throws ArtifactRefused, Cancel lease-lost */
export abstract class LeaseCalls<Opening extends { bytes: number }, End> {
  readonly #options: LeaseCallsOptions;
  /** The last part of the path, the schema of an opening's answer, and the options of the final call. */
  protected abstract readonly kind: {
    path: string;
    opened: z.ZodMiniType<Opened>;
    end: { status: number; timeout?: number };
  };
  protected readonly tries: number = TRIES;

  constructor(options: LeaseCallsOptions) {
    this.#options = options;
  }

  get signal(): AbortSignal {
    return this.#options.signal;
  }

  protected path(verb: string): string {
    return `/job/${this.#options.id}/${verb}`;
  }

  protected async call<T>(schema: z.ZodMiniType<T>, status: number, call: Omit<ApiRequest, "lease">): Promise<T> {
    const { body } = await this.send(status, call);
    const read = schema.safeParse(body);
    if (read.success) return read.data;
    throw new ArtifactRefused(null, "this agent cannot read the service's answer");
  }

  protected async send(status: number, call: Omit<ApiRequest, "lease">): Promise<ApiAnswer> {
    const { client, lease, signal, onLeaseLost } = this.#options;
    const answer = await client
      .send({ signal, maxTries: this.tries, endsAtLimit: true, ...call, lease })
      .catch((error: unknown) => {
        throw error instanceof Unreachable ? new ArtifactRefused(null, error.message) : error;
      });
    if (answer.status === status) return answer;
    if (isLeaseLost(answer)) {
      onLeaseLost();
      throw new Cancel("lease-lost");
    }
    throw new ArtifactRefused(answer.status, problemsIn(answer));
  }
  /** Announces an upload. A repeated call with the earlier grant returns a new grant. */
  open(body: Opening, before?: string): Promise<Opened> {
    const headers: Record<string, string> = before === undefined ? {} : { [GRANT_HEADER]: before };
    const { path, opened } = this.kind;
    return this.call(opened, 201, { method: "POST", path: this.path(path), headers, body });
  }

  part(id: string, number: number, grant: string, bytes: Buffer, sha256: string): Promise<{ etag: string }> {
    const path = this.path(`${this.kind.path}/${id}/part/${number}`);
    const headers = { [GRANT_HEADER]: grant, [CONTENT_SHA256_HEADER]: sha256 };
    return this.call(SentPart, 200, { method: "PUT", path, headers, bytes, timeout: PART_TIMEOUT });
  }

  async end(id: string, grant: string, body: End): Promise<void> {
    const { status, ...limits } = this.kind.end;
    const path = this.path(`${this.kind.path}/${id}/done`);
    await this.send(status, { method: "POST", path, headers: { [GRANT_HEADER]: grant }, body, ...limits });
  }
}
