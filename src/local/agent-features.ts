import { FEATURES } from "../protocol/jobs.ts";

/** What an agent's record says of its program. */
interface AgentRecord {
  name: string;
  features: string[];
}

const pageOf = async (address: URL, token: string) => {
  const answer = await fetch(address, { headers: { Authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error(`GET /buildagent was answered with ${answer.status}`);
  const next = /<([^>]+)>; rel="next"/.exec(answer.headers.get("Link") ?? "")?.[1];
  return { agents: (await answer.json()) as AgentRecord[], next: next ? new URL(next, address) : null };
};

/** Every agent of the organization that the token is of. @throws where the service does not answer with a list */
export const fetchAgents = async (service: string, token: string): Promise<AgentRecord[]> => {
  const agents: AgentRecord[] = [];
  for (let page: URL | null = new URL("/buildagent", service); page; ) {
    const found = await pageOf(page, token);
    agents.push(...found.agents);
    page = found.next;
  }
  return agents;
};

/** A sentence for each thing that some of the agents cannot do, with their names. */
export const missingFeatures = (agents: AgentRecord[]): string[] =>
  FEATURES.flatMap((feature) => {
    const without = agents.filter(({ features }) => !features.includes(feature)).map(({ name }) => name);
    return without.length === 0 ? [] : [`${feature}: ${without.join(", ")}`];
  });
