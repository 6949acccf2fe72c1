import { randomText } from "../crypto/token.ts";
import type { Build } from "../protocol/build.ts";
import { isEnded } from "../protocol/build-states.ts";
import type { Group } from "../protocol/group.ts";
import type { Metrics } from "../protocol/metrics.ts";
import type { Pipeline } from "../protocol/pipeline.ts";
import type { Repository } from "../protocol/repository.ts";
import type { Variable } from "../protocol/variable.ts";
import type { Client } from "./client.ts";

/** Creates the missing parts of the demo: repository, group, pipeline, and a variable and a secret at each scope. */
export const prepareDemo = async (client: Client, orgId: string, cloneUrl: string): Promise<Repository> => {
  const repository = await client.ensure<Repository>("/repository", ({ fullName }) => fullName === "acme/sample", {
    gitHostRepoId: 1,
    fullName: "acme/sample",
    cloneUrl,
  });
  const group = await client.ensure<Group>("/secrets/groups", ({ name }) => name === "shared", {
    name: "shared",
    description: "Variables that pipelines share",
  });
  const pipeline = await client.ensure<Pipeline>(`/pipeline?repoId=${repository.id}`, ({ name }) => name === "ci", {
    repoId: repository.id,
    name: "ci",
    groupIds: [group.id],
  });
  const owners = [
    { scope: "organization", orgId, plain: ["REGION", "eu-north"], secret: "ORG_TOKEN" },
    { scope: "group", orgId, groupId: group.id, plain: ["SHARED", "yes"], secret: "GROUP_TOKEN" },
    { scope: "repository", repoId: repository.id, plain: ["OWNER", "team-water"], secret: "REPO_TOKEN" },
    { scope: "pipeline", pipelineId: pipeline.id, plain: ["STAGE", "test"], secret: "PIPELINE_TOKEN" },
  ];
  const existingKeys = new Set((await client.call<Variable[]>("GET", "/secrets/variables")).map(({ key }) => key));
  for (const { plain, secret, ...owner } of owners) {
    const [key = "", value = ""] = plain;
    const variables = [
      { ...owner, key, value, isSecret: false },
      { ...owner, key: secret, value: randomText(24), isSecret: true, description: "A random value" },
    ];
    for (const body of variables)
      if (!existingKeys.has(body.key)) await client.call("POST", "/secrets/variables", body);
  }
  return repository;
};

/** Prints a build's log as it grows, until the log ends. */
export const printLog = async (client: Client, buildId: string, print: (text: string) => void): Promise<void> => {
  const response = await fetch(`${client.url}/build/${buildId}/log`, {
    headers: { Authorization: `Bearer ${client.token}`, Accept: "text/event-stream" },
  });
  if (!response.ok || !response.body)
    throw new Error(`Cannot read the log: ${response.status} ${await response.text()}`);
  let pending = "";
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const events = (pending + text).split("\n\n");
    pending = events.pop() ?? "";
    for (const event of events) {
      const lines = event.split("\n");
      if (lines.includes("event: end")) return;
      const data = lines.find((line) => line.startsWith("data: "))?.slice(6);
      if (data && !lines.some((line) => line.startsWith("event: "))) print(JSON.parse(data));
    }
  }
};

/** Waits until the build has ended. */
export const waitForEnd = async (client: Client, buildId: string): Promise<Build> => {
  for (;;) {
    const build = await client.call<Build>("GET", `/build/${buildId}`);
    if (isEnded(build.status)) return build;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
};

/** Waits until D1 has a row for every build, so that upkeep counts them. */
export const waitForDatabase = async (client: Client): Promise<void> => {
  while ((await client.call<Metrics>("GET", "/buildagent/metrics")).outbox.builds > 0)
    await new Promise((resolve) => setTimeout(resolve, 200));
};
