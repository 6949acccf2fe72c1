import { AgentRegistration } from "../../protocol/agent.ts";
import { PROTOCOL, VERSION } from "../../protocol/version.ts";
import { runningAgentPid } from "../process/lock.ts";
import { RegisteredAnswer } from "../wire/answers.ts";
import { Client, describeAnswer, TokenRefused, Unreachable } from "../wire/client.ts";
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
import { serviceUrl } from "./service-url.ts";
import { readToken } from "./token-file.ts";

export interface RegisterOptions extends Partial<Capabilities> {
  state: string;
  url: string;
  tokenFile: string;
  name: string;
  labels: string[];
  isEphemeral: boolean;
}

/** Registers this machine as an agent of the service and saves its identity in the state folder. */
export const register = async (options: RegisterOptions): Promise<Identity> => {
  const url = serviceUrl(options.url);
  const known = findIdentity(options.state);
  if (known)
    throw new ExitError(
      `${options.state} already holds the agent ${known.name}: deregister it, or use another --state`,
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
  const client = new Client({ url, token: readToken(options.tokenFile) });
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

/** Succeeds when the service does not know the agent any more. @throws ExitError */
export const removeFromService = async (identity: Identity): Promise<void> => {
  const client = new Client({ url: identity.url, token: identity.token });
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
    logger.info("the service had removed this agent already");
  }
};
