import { describe, expect, it } from "vitest";
import { isRoot } from "../../support/local/named-user.ts";
import { testRepository } from "../support/repository.ts";
import { namedUser } from "../support/step-user.ts";
import { NODE_VERSION } from "./support/node-mirror.ts";
import { hasMise } from "./support/tested-mise.ts";
import { build, fakeService, useToolAgents } from "./support/tool-agents.ts";

const tools = useToolAgents("whole");

describe.runIf(hasMise)("Node from the real registry", () => {
  it("is set up with a package that its npm installs without a token", async () => {
    const service = await fakeService();
    tools.start(service, null);
    const repository = testRepository({
      ".millrace.yml": `tools: { node: 24, "npm:semver": 7.7.2 }\nsteps:\n  - run: console.log(process.execPath)\n    shell: node\n  - run: which semver; semver 1.2.3\n`,
    });
    const { body, log } = await build(service, repository);
    expect({ body, log }).toMatchObject({ body: { status: "succeeded" } });
    expect(log).toMatch(/\/data\/installs\/node\/[\d.]+\/bin\/node\n/);
    expect(log).toMatch(/tools\/data\/installs\/npm-semver\/7\.7\.2\/bin\/semver\n1\.2\.3\n/);
    expect(log).not.toContain("t0ken");
  });

  it.runIf(isRoot)("is kept for the next build of an agent with --run-as", async () => {
    const service = await fakeService();
    tools.start(service, namedUser());
    const repository = testRepository({ ".millrace.yml": "tools: { node: 24 }\nsteps: [{ run: node --version }]\n" });
    expect((await build(service, repository)).log).not.toContain("taken from");
    const { log } = await build(service, repository);
    expect(log).toContain("reused the tools that this agent kept for refs/heads/main\n");
    expect(log).toContain(`\nv${NODE_VERSION}\n`);
  });
});
