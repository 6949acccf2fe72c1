import { afterAll, beforeAll, expect, it } from "vitest";
import { describeApi } from "../../src/api/description/describe.ts";
import { EXAMPLES } from "../../src/api/description/examples.ts";
import { ROUTES } from "../../src/api/routes.ts";
import type { Build } from "../../src/protocol/build.ts";
import { startAgent } from "../support/local/agent.ts";
import { connectRepository, makeRepository } from "../support/local/git-repository.ts";
import { type LocalService, startLocalService } from "../support/local/service.ts";
import { runTwiceWithTypes, runWithFunctions } from "../support/typed-client.ts";

const description = describeApi(ROUTES, EXAMPLES);

let service: LocalService;
beforeAll(async () => {
  service = await startLocalService();
});
afterAll(() => service?.remove());

it("the service works with clients that two generators create from the description, as documented", async () => {
  const client = await service.newOrganization("stranger");
  const file = 'steps:\n  - run: echo "release $RELEASE"\n';
  const repository = await connectRepository(client, makeRepository(service.folder, { ".millrace.yml": file }));

  const agent = await startAgent(client, service.folder, "one");
  const env = { MILLRACE_URL: service.url, MILLRACE_TOKEN: client.token };
  const released = { code: 0, printed: "Build #1 succeeded\n", errors: [] };
  const both = await runTwiceWithTypes(description, [repository.fullName, "7"], env);
  expect(both).toEqual([released, released]);
  const builds = await client.call<Build[]>("GET", "/build");
  expect(builds.map(({ repoId }) => repoId)).toEqual([repository.id]);

  const wrong = { ...env, MILLRACE_TOKEN: "mrt_wrong" };
  const [listed, refused] = await runWithFunctions(description, [env, wrong]);
  expect(listed).toEqual({ code: 0, printed: "#1 main succeeded\n", errors: [] });
  expect(refused?.code).toBe(1);
  await agent.stop();
});
