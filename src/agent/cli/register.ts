import { readFileSync, statSync } from "node:fs";
import { withoutEnd } from "../../domain/text.ts";
import { AgentRegistration } from "../../protocol/agent.ts";
import { PROTOCOL, VERSION } from "../../protocol/version.ts";
import { runningAgentPid } from "../process/lock.ts";
import { RegisteredAnswer } from "../wire/answers.ts";
import { ApiClient, describeAnswer, TokenRefused, Unreachable } from "../wire/client.ts";
import { type Capabilities, detectCapabilities, platformCode } from "./capabilities.ts";
import { EXIT, ExitError } from "./exit-codes.ts";
import {
  findIdentity,
  forgetIdentity,
  type Identity,
  loadIdentity,
  makeStateFolder,
  saveIdentity,
} from "./identity.ts";
import { logger } from "./logger.ts";

/**
 * Reads the registration token from a file that no other user can read, or from standard input (`-`). Other processes
 * on the machine could read an argument or a variable.
 */
const readToken = (file: string): string => {
  const token = (file === "-" ? readFileSync(0, "utf8") : readPrivateFile(file)).trim();
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new ExitError("--token-file must contain one token and nothing else", EXIT.usage);
};

const readPrivateFile = (file: string): string => {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile()) throw new ExitError(`--token-file: ${file} is not a file`, EXIT.usage);
  if ((stat.mode & 0o077) !== 0)
    throw new ExitError(`--token-file: other users can read ${file}: run chmod 600 ${file} first`, EXIT.usage);
  return readFileSync(file, "utf8");
};

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);

/**
 * Returns the service's URL without a trailing slash. The agent sends tokens to it, so http is allowed only to this
 * machine.
 */
export const serviceUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw new ExitError("--url must be a URL that starts with https://", EXIT.usage);
  if (url.username || url.password)
    throw new ExitError("--url must not contain a user name or password: pass the token with --token-file", EXIT.usage);
  if (url.protocol === "http:" && !isLoopback(url.hostname))
    throw new ExitError("--url may use http:// only for this machine (localhost): use https://", EXIT.usage);
  return withoutEnd(`${url.origin}${url.pathname}`, "/");
};

interface RegisterOptions extends Partial<Capabilities> {
  state: string;
  url: string;
  tokenFile: string;
  name: string;
  labels: string[];
  isEphemeral: boolean;
}

/** Registers this machine as an agent and saves its identity in the state folder. */
export const registerMachine = async (options: RegisterOptions): Promise<Identity> => {
  const url = serviceUrl(options.url);
  const existing = findIdentity(options.state);
  if (existing)
    throw new ExitError(
      `${options.state} already has the agent ${existing.name}: deregister it, or use another --state`,
      EXIT.usage,
    );
  const capabilities = detectCapabilities(options);
  const registration = AgentRegistration.safeParse({
    name: options.name,
    platform: platformCode(),
    ...capabilities,
    labels: options.labels,
    version: VERSION,
    isEphemeral: options.isEphemeral,
    protocol: PROTOCOL,
  });
  if (!registration.success) {
    const issue = registration.error.issues[0];
    throw new ExitError(`--${String(issue?.path[0] ?? "name")} ${issue?.message ?? "is invalid"}`, EXIT.usage);
  }
  const client = new ApiClient({ url, token: readToken(options.tokenFile) });
  const answer = await explainFailure(
    client.send({ method: "POST", path: "/buildagent/register", body: registration.data, maxTries: 4 }),
  );
  const agent = RegisteredAnswer.safeParse(answer.body);
  if (answer.status !== 201 || !agent.success)
    throw new ExitError(`not registered: ${describeAnswer(answer)}`, EXIT.failed);
  const { id, orgId, name, token, isEphemeral, labels, heartbeatSeconds, pollSeconds } = agent.data;
  const identity = { url, id, orgId, name, token, isEphemeral, ...capabilities, labels, heartbeatSeconds, pollSeconds };
  makeStateFolder(options.state);
  saveIdentity(options.state, identity);
  return identity;
};

const explainFailure = async <T>(call: Promise<T>): Promise<T> => {
  try {
    return await call;
  } catch (error) {
    if (error instanceof TokenRefused)
      throw new ExitError("not registered: the token in --token-file is wrong, expired or revoked", EXIT.notRegistered);
    throw error instanceof Unreachable ? new ExitError(error.message, EXIT.unreachable) : error;
  }
};

/** Removes the agent from the service, unless `localOnly`, and removes its identity from the state folder. */
export const deregister = async (state: string, localOnly: boolean): Promise<void> => {
  const holder = runningAgentPid(state);
  if (holder !== null)
    throw new ExitError(
      `the agent is running (process ${holder}): stop it, then run deregister again`,
      EXIT.alreadyRunning,
    );
  const identity = loadIdentity(state);
  if (!localOnly) await removeFromService(identity);
  forgetIdentity(state);
};

/** Removes the agent. Succeeds when the service no longer knows it. @throws ExitError */
export const removeFromService = async (identity: Identity): Promise<void> => {
  const client = new ApiClient({ url: identity.url, token: identity.token });
  try {
    const answer = await client.send({ method: "DELETE", path: `/buildagent/${identity.id}`, maxTries: 4 });
    if (answer.status >= 400 && answer.status !== 404)
      throw new ExitError(
        `not deregistered: ${describeAnswer(answer)}; deregister --local removes it from this machine only`,
        EXIT.failed,
      );
  } catch (error) {
    if (error instanceof Unreachable)
      throw new ExitError(`${error.message}; deregister --local removes it from this machine only`, EXIT.unreachable);
    if (!(error instanceof TokenRefused)) throw error;
    logger.info("the service had already removed this agent");
  }
};
