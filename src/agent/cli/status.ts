import { AGENT_STATUS } from "../../protocol/agent.ts";
import { runningAgentPid } from "../process/lock.ts";
import { AgentAnswer } from "../wire/answers.ts";
import { ApiClient, describeAnswer, Unreachable } from "../wire/client.ts";
import { EXIT, ExitError } from "./exit-codes.ts";
import { loadIdentity } from "./identity.ts";

/** Reports the agent's identity, whether it runs here, and the service's data about it, as lines for people. */
export const status = async (state: string): Promise<string[]> => {
  const identity = loadIdentity(state);
  const holder = runningAgentPid(state);
  const lines = [
    `name      ${identity.name}`,
    `id        ${identity.id}`,
    `service   ${identity.url} (${identity.orgId})`,
    `state     ${state}`,
    `process   ${holder === null ? "not running" : `running (${holder})`}`,
  ];
  const client = new ApiClient({ url: identity.url, token: identity.token });
  const answer = await client
    .send({ method: "GET", path: `/buildagent/${identity.id}`, maxTries: 2 })
    .catch((error) => {
      throw error instanceof Unreachable
        ? new ExitError([...lines, error.message].join("\n"), EXIT.unreachable)
        : error;
    });
  const agent = AgentAnswer.safeParse(answer.body).data;
  if (!agent) return [...lines, `seen as   ${describeAnswer(answer)}`];
  const name = Object.entries(AGENT_STATUS).find(([, code]) => code === agent.status)?.[0] ?? agent.status;
  return [
    ...lines,
    `seen as   ${name}, last heard ${agent.lastHeartbeatAt}`,
    `builds    iOS ${yes(agent.canBuildIOS)}, Android ${yes(agent.canBuildAndroid)}, web ${yes(agent.canBuildWeb)}`,
    `labels    ${agent.labels.join(", ") || "none"}`,
    `at work   ${agent.currentBuildId ?? "nothing"}`,
  ];
};

const yes = (flag: boolean): string => (flag ? "yes" : "no");
