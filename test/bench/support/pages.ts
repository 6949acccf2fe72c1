import type { Client } from "../../../src/local/client.ts";
import type { Build } from "../../../src/protocol/build.ts";
import type { Group } from "../../../src/protocol/group.ts";
import { makePipeline, registerAgent, runBuild } from "./build-requests.ts";
import type { KeepAliveClient } from "./keep-alive.ts";

const BUILDS = 50;
const VARIABLES = 40;

/** A page, and the API call to compare it with. */
export interface PageAndCall {
  name: string;
  page: string;
  call: string;
}

/** Returns the cookie for a browser that has signed in with the client's token. */
export const cookieOf = async ({ url, token }: Client): Promise<string> => {
  const signedIn = await fetch(`${url}/app/sign-in`, {
    method: "POST",
    redirect: "manual",
    headers: { Origin: url },
    body: new URLSearchParams({ token }),
  });
  return signedIn.headers.get("Set-Cookie")?.split(";")[0] ?? "";
};

/** Fills an organization like a small team's. Returns the pages to measure. */
export const fillOrganization = async (client: Client, http: KeepAliveClient): Promise<PageAndCall[]> => {
  const { token } = client;
  const { id: pipelineId, repoId } = await makePipeline(client);
  const agent = await registerAgent(client, http, "mill-1");
  const group = await client.call<Group>("POST", "/secrets/groups", { name: "shared" });
  for (let n = 0; n < VARIABLES; n++) {
    const body = { scope: "repository", repoId, key: `KEY_${n}`, value: `value ${n}`, isSecret: n % 4 === 0 };
    await client.call("POST", "/secrets/variables", body);
  }
  for (let n = 0; n < BUILDS; n++) await runBuild(http, { token, pipelineId }, agent);
  const [build] = await client.call<Build[]>("GET", "/build?limit=1");
  const pair = (name: string, page: string, call: string): PageAndCall => ({ name, page: `/app${page}`, call });
  return [
    pair("builds", "/builds", "/build"),
    pair("build", `/builds/${build?.id}`, `/build/${build?.id}`),
    pair("agents", "/agents", "/buildagent"),
    pair("repositories", "/repositories", "/repository"),
    pair("repository", `/repositories/${repoId}`, `/repository/${repoId}`),
    pair("pipeline", `/pipelines/${pipelineId}`, `/pipeline/${pipelineId}/environment`),
    pair("variables", "/variables", "/secrets/variables"),
    pair("group", `/groups/${group.id}`, "/secrets/groups?includeVariables=true"),
    pair("tokens", "/tokens", "/token"),
    pair("audit", "/audit", "/audit"),
  ];
};
