import * as z from "zod/mini";
import { LIMITS } from "../../protocol/limits.ts";
import { type HostRequest, type HostResponse, hostFetch, isLimited } from "./host-fetch.ts";

/**
 * `token`: it is not accepted; `right`: it may not do this; `missing`: not there, or hidden; `stranger`: what answers is
 * no API of this kind; `away`: it may answer later.
 */
type HostProblemKind = "token" | "right" | "missing" | "refused" | "stranger" | "away";

/** Why a git host did not do what it was asked. The message is a sentence of ours: it quotes nothing of the answer. */
export class HostProblem extends Error {
  override name = "HostProblem";
  readonly kind: HostProblemKind;
  constructor(kind: HostProblemKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** What the requests of one kind of host have in common. */
export interface HostManner {
  /** The host's name, as sentences have it. */
  name: string;
  apiUrl: string;
  /** The token is in one of these. */
  headers: Record<string, string>;
  /** What proves who asks, as sentences have it: the token where it is left out. */
  proof?: string;
}

interface ApiRequest extends Omit<HostRequest, "headers"> {
  /** What the token needs for this, for the sentence that says it lacks it. */
  right: string;
  /** Whether the answer is a list, which may be larger. */
  isList?: true;
}

/** A host answers 404 for what the token may not see as well. */
const toProblem = ({ name: host, proof = "token" }: HostManner, answer: HostResponse, right: string): HostProblem => {
  const { status } = answer;
  if (isLimited(answer)) return new HostProblem("away", `${host} takes no more requests for a while: repeat it later.`);
  if (status === 401) return new HostProblem("token", `${host} does not accept the ${proof}.`);
  if (status === 403) return new HostProblem("right", `The ${proof} lacks a right at ${host}: give it ${right}.`);
  if (status === 404 || status === 410) {
    return new HostProblem("missing", `${host} does not find it, or hides it from a ${proof} without ${right}.`);
  }
  if (status >= 500) return new HostProblem("away", `${host} answers with an error of its own (${status}).`);
  return new HostProblem("refused", `${host} refuses the request (${status}).`);
};

/** Sends a request. @throws HostProblem where the host does not do it, or what answers is not its API */
const send = async (manner: HostManner, { right, isList, ...request }: ApiRequest) => {
  const { name, apiUrl, headers } = manner;
  const answer = await hostFetch(apiUrl, { ...request, headers }, isList && LIMITS.hostListBytes);
  if ("unreachable" in answer) throw new HostProblem("away", `${name} cannot be reached: ${answer.unreachable}.`);
  const { status } = answer;
  if (status < 200 || status > 299) throw toProblem(manner, answer, right);
  return answer;
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The answer of the host in the form that we need, with its headers. @throws HostProblem */
export const ask = async <T>(
  manner: HostManner,
  request: ApiRequest,
  form: z.ZodMiniType<T>,
): Promise<{ value: T; headers: Headers }> => {
  const { body, headers } = await send(manner, request);
  const read = form.safeParse(parseJson(body));
  if (read.success) return { value: read.data, headers };
  throw new HostProblem(
    "stranger",
    `What answers at this address is not the API of ${manner.name}: check the address.`,
  );
};

/** Asks for something to be done whose answer does not matter. @throws HostProblem */
export const order = async (manner: HostManner, request: ApiRequest): Promise<void> => {
  await send(manner, request);
};

/** A number that names something at the host. */
export const HostNumber = z.int().check(z.nonnegative());

/** The path of `owner/name`, whose parts are encoded one by one. */
export const encodePath = (fullName: string): string => fullName.split("/").map(encodeURIComponent).join("/");
