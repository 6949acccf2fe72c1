import type * as z from "zod/mini";
import { Cancel } from "../failure.ts";
import { isLeaseLost } from "../wire/build-calls.ts";
import { type Answer, type Client, type ClientRequest, problemsIn, Unreachable } from "../wire/client.ts";

/** The service does not keep, or does not give, what it was asked; the message says why. */
export class ArtifactRefused extends Error {
  readonly status: number | null;
  constructor(status: number | null, message: string) {
    super(message);
    this.status = status;
  }
}

/** About as long as a restart of the service takes, many times over: some ten minutes. */
const TRIES = 14;

export interface LeaseCallsOptions {
  client: Client;
  /** Id of what the agent holds. */
  id: string;
  lease: number;
  /** Aborted when the build must stop: nothing is sent any more. */
  signal: AbortSignal;
  /** Called when the service says that this agent holds it no more. */
  onLeaseLost: () => void;
}

/** Calls about the files of what the agent holds. @throws ArtifactRefused, Cancel lease-lost */
export class LeaseCalls {
  readonly #options: LeaseCallsOptions;
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

  protected async call<T>(schema: z.ZodMiniType<T>, status: number, call: Omit<ClientRequest, "lease">): Promise<T> {
    const { body } = await this.send(status, call);
    const read = schema.safeParse(body);
    if (read.success) return read.data;
    throw new ArtifactRefused(null, "the service answered with something else than this agent understands");
  }

  protected async send(status: number, call: Omit<ClientRequest, "lease">): Promise<Answer> {
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
    throw new ArtifactRefused(answer.status, wordsOf(answer));
  }
}

const wordsOf = (answer: Answer): string =>
  answer.status === 405 ? "this service is too old for artifacts and caches: update it" : problemsIn(answer);
