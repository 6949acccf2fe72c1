import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { saveIdentity } from "../../src/agent/cli/identity.ts";
import type { StepUser } from "../../src/agent/process/step-user.ts";
import { isRoot } from "../support/local/named-user.ts";
import { runAgentCli } from "./support/agent-cli.ts";
import { type FakeService, IDENTITY, makeJob, startFakeService } from "./support/fake-service.ts";
import { testFolder } from "./support/folder.ts";
import { testRepository } from "./support/repository.ts";
import { namedUser } from "./support/step-user.ts";
import { waitUntil } from "./support/wait-until.ts";

const start = (service: FakeService, user: StepUser | null) => {
  const state = join(testFolder(), "state");
  saveIdentity(state, { ...IDENTITY, url: service.url });
  const work = testFolder();
  chmodSync(work, 0o711);
  const runAs = user ? ["--run-as", user.name] : [];
  const agent = runAgentCli(["start", "--grace", "1", "--state", state, "--work", work, ...runAs]);
  return { ...agent, work };
};

let builds = 0;
const build = async (service: FakeService, cloneUrl: string) => {
  const job = makeJob(cloneUrl, ++builds);
  service.jobs.push(job);
  const { id } = job.build;
  const { body } = await waitUntil(() => service.results.find(({ buildId }) => buildId === id));
  return { body, log: service.logs.get(id) ?? "" };
};

const FILE = `checkout: { path: stable }
steps:
  - run: echo "here is $PWD"; pwd -P; test ! -e left; touch left; mkdir -m 000 closed; (setsid sleep 600 &)
`;
const placeIn = (log: string) => /^here is (\/.*)\n(.*)\n/m.exec(log)?.slice(1);
const USERS: [string, () => StepUser | null][] = isRoot
  ? [
      ["the agent's user", () => null],
      ["a user of its own", namedUser],
    ]
  : [["the agent's user", () => null]];

describe("a stable path", () => {
  it.each(USERS)(
    "is the same in each build with the steps under %s, empty before and removed after it",
    async (_, user) => {
      const service = await startFakeService();
      onTestFinished(() => service.close());
      const { work } = start(service, user());
      const { cloneUrl } = testRepository({ ".millrace.yml": FILE });
      const [first, second] = [await build(service, cloneUrl), await build(service, cloneUrl)];
      for (const { body, log } of [first, second])
        expect({ body, log }).toMatchObject({ body: { status: "succeeded" } });
      const [path = "", real] = placeIn(first.log) ?? [];
      expect(path).toMatch(new RegExp(`^${work}/checkout-[0-9a-f]{16}$`));
      expect([real, ...(placeIn(second.log) ?? [])]).toEqual([path, path, path]);
      await waitUntil(() => !readdirSync(work).some((name) => name.startsWith("checkout-")));
    },
  );

  it("stays with its first user", async () => {
    const service = await startFakeService();
    onTestFinished(() => service.close());
    const { work } = start(service, null);
    const { cloneUrl } = testRepository({ ".millrace.yml": FILE });
    const [path = ""] = placeIn((await build(service, cloneUrl)).log) ?? [];
    await waitUntil(() => !readdirSync(work).some((name) => name.startsWith("checkout-")));
    mkdirSync(path);
    writeFileSync(join(path, "file"), "of another");
    const { body, log } = await build(service, cloneUrl);
    expect(body).toMatchObject({ status: "succeeded" });
    expect(log).toContain("another build on this machine uses the pipeline's path");
    expect(placeIn(log)?.[0]).toMatch(/\/build-\w+\/workspace$/);
    expect(readdirSync(path)).toEqual(["file"]);
  });
});
