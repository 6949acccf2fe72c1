import { AgentRegistration } from "../../protocol/agent.ts";
import { PROTOCOL, VERSION } from "../../protocol/version.ts";
import { holderOf } from "../process/lock.ts";
import { RegisteredAnswer } from "../wire/answers.ts";
import { Client, Refused, Unreachable, wordOf } from "../wire/client.ts";
import { type Capabilities, capabilitiesOf, platformCode } from "./capabilities.ts";
import { EXIT, Stop } from "./exit-codes.ts";
import {
  findIdentity,
  forgetIdentity,
  type Identity,
  loadIdentity,
  openStateFolder,
  saveIdentity,
} from "./identity.ts";
import { announce } from "./logger.ts";
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

/** Makes this machine an agent of the service and keeps who it is in the state folder. */
export const register = async (options: RegisterOptions): Promise<Identity> => {
  const url = serviceUrl(options.url);
  const known = findIdentity(options.state);
  if (known)
    throw new Stop(
      `${options.state} holds the agent ${known.name} already: deregister it, or use another --state`,
      EXIT.usage,
    );
  const capabilities = capabilitiesOf(options);
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
    throw new Stop(`--${String(issue?.path[0] ?? "name")} ${issue?.message ?? "is invalid"}`, EXIT.usage);
  }
  const client = new Client({ url, token: readToken(options.tokenFile) });
  const answer = await reached(
    client.send({ method: "POST", path: "/buildagent/register", body: registration.data, tries: 4 }),
  );
  const agent = RegisteredAnswer.safeParse(answer.body);
  if (answer.status !== 201 || !agent.success) throw new Stop(`not registered: ${wordOf(answer)}`, EXIT.failed);
  const { id, orgId, name, token, isEphemeral, labels, heartbeatSeconds, pollSeconds } = agent.data;
  const identity = { url, id, orgId, name, token, isEphemeral, ...capabilities, labels, heartbeatSeconds, pollSeconds };
  openStateFolder(options.state);
  saveIdentity(options.state, identity);
  return identity;
};

const reached = async <T>(call: Promise<T>): Promise<T> => {
  try {
    return await call;
  } catch (error) {
    if (error instanceof Refused)
      throw new Stop("not registered: the token in --token-file is wrong, expired or revoked", EXIT.notRegistered);
    throw error instanceof Unreachable ? new Stop(error.message, EXIT.unreachable) : error;
  }
};

/** Removes the agent from the service, where it is still known there, and forgets who it was. */
export const deregister = async (state: string, localOnly: boolean): Promise<void> => {
  const holder = holderOf(state);
  if (holder !== null) throw new Stop(`the agent is running (process ${holder}): stop it first`, EXIT.alreadyRunning);
  const identity = loadIdentity(state);
  if (!localOnly) await removeFromService(identity);
  forgetIdentity(state);
};

/** A service that does not know the agent any more is content. */
export const removeFromService = async (identity: Identity): Promise<void> => {
  const client = new Client({ url: identity.url, token: identity.token });
  try {
    const answer = await client.send({ method: "DELETE", path: `/buildagent/${identity.id}`, tries: 4 });
    if (answer.status >= 400 && answer.status !== 404)
      throw new Stop(`not deregistered: ${wordOf(answer)}; deregister --local forgets it here only`, EXIT.failed);
  } catch (error) {
    if (error instanceof Unreachable)
      throw new Stop(`${error.message}; deregister --local forgets it here only`, EXIT.unreachable);
    if (!(error instanceof Refused)) throw error;
    announce.info("the service had removed this agent already");
  }
};
