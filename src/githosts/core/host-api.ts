import * as z from "zod/mini";
import { LIMITS } from "../../protocol/limits.ts";
import { type HostRequest, type HostResponse, hostFetch, isLimited } from "./host-fetch.ts";

/**
 * The kind of a host's problem. `token`: the host does not accept the token. `right`: the token lacks a permission.
 * `missing`: the resource was not found, or is hidden. `stranger`: the server is not an API of this kind. `away`: the
 * host may answer later.
 */
type HostProblemKind = "token" | "right" | "missing" | "refused" | "stranger" | "away";

/**
 * The reason why a git host did not fulfil a request. The message is our own sentence and quotes nothing from the
 * answer.
 */
export class HostProblem extends Error {
  override name = "HostProblem";
  readonly kind: HostProblemKind;
  constructor(kind: HostProblemKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The common parts of requests to one kind of host. */
export interface HostManner {
  /** The host's name in sentences. */
  name: string;
  apiUrl: string;
  /** The headers of each request. One of them contains the token. */
  headers: Record<string, string>;
  /** The name of the caller's proof in sentences. The default is the token. */
  proof?: string;
}

interface ApiRequest extends Omit<HostRequest, "headers"> {
  /** The permission that the token needs for this request, for the sentence that reports its absence. */
  right: string;
  /** Whether the answer is a list, which may be larger. */
  isList?: true;
}

/** Converts an answer to a problem. A host also answers 404 for anything that the token may not see. */
const toProblem = ({ name: host, proof = "token" }: HostManner, answer: HostResponse, right: string): HostProblem => {
  const { status } = answer;
  if (isLimited(answer)) return new HostProblem("away", `${host} limits the rate of requests: try again later.`);
  if (status === 401) return new HostProblem("token", `${host} does not accept the ${proof}.`);
  if (status === 403) return new HostProblem("right", `The ${proof} lacks a permission on ${host}: give it ${right}.`);
  if (status === 404 || status === 410) {
    return new HostProblem("missing", `${host} cannot find it, or hides it because the ${proof} lacks ${right}.`);
  }
  if (status >= 500) return new HostProblem("away", `${host} has an internal error (${status}).`);
  return new HostProblem("refused", `${host} rejects the request (${status}).`);
};

/** Sends a request. @throws HostProblem if the host does not fulfil it, or if the server is not its API */
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

/** Returns the parsed answer of the host, with its headers. @throws HostProblem */
export const ask = async <T>(
  manner: HostManner,
  request: ApiRequest,
  form: z.ZodMiniType<T>,
): Promise<{ value: T; headers: Headers }> => {
  const { body, headers } = await send(manner, request);
  const read = form.safeParse(parseJson(body));
  if (read.success) return { value: read.data, headers };
  throw new HostProblem("stranger", `The server at this address is not the API of ${manner.name}: check the address.`);
};

/** Sends a command whose answer does not matter. @throws HostProblem */
export const order = async (manner: HostManner, request: ApiRequest): Promise<void> => {
  await send(manner, request);
};

/** A number that identifies something at the host. */
export const HostNumber = z.int().check(z.nonnegative());

/** Returns the path of `owner/name`, with each part encoded. */
export const encodePath = (fullName: string): string => fullName.split("/").map(encodeURIComponent).join("/");
