import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../src/local/client.ts";
import { waitForEnd } from "../../src/local/demo.ts";
import type { Build } from "../../src/protocol/build.ts";
import type { Pipeline } from "../../src/protocol/pipeline.ts";
import { startAgent } from "../support/local/agent.ts";
import { connectRepository } from "../support/local/git-repository.ts";
import { startLocalService } from "../support/local/service.ts";
import { setup as bundleAgent } from "../support/set-up/agent.ts";
import { commit, PROJECTS } from "./warm-projects.ts";

/** Builds the branch. @returns the seconds of the whole build, and of its step */
const seconds = async (client: Client, pipelineId: string): Promise<{ whole: number; step: number }> => {
  const { id } = await client.call<Build>("POST", "/build", { pipelineId, branch: "main" });
  const build = await waitForEnd(client, id);
  if (build.status !== "succeeded") throw new Error(`The build is ${build.status}: ${build.message}`);
  const log = await fetch(`${client.url}/build/${id}/log`, { headers: { Authorization: `Bearer ${client.token}` } });
  for (const line of (await log.text()).split("\n"))
    if (/^(\w+: (there is|saved|restored)|Warning: cache: )/.test(line)) console.log(`  ${line}`);
  const between = ({ startedAt, finishedAt }: { startedAt: string | null; finishedAt: string | null }) =>
    (Date.parse(finishedAt ?? "") - Date.parse(startedAt ?? "")) / 1000;
  return { whole: between(build), step: build.steps[0] ? between(build.steps[0]) : Number.NaN };
};

/** Builds projects twice, with a change between. The second build starts with the cache that the first one saved. */
export const drill = async (): Promise<boolean> => {
  const removeProgram = await bundleAgent();
  const service = await startLocalService();
  try {
    const client = await service.newOrganization("acme");
    const projects = PROJECTS.map((make) => make(service.folder));
    // The steps must not write below the person's own HOME.
    const home = join(service.folder, "home");
    process.env.HOME = home;
    let isFaster = true;
    for (const { name, git, change } of projects) {
      const { id: repoId } = await connectRepository(client, git);
      const { id } = await client.call<Pipeline>("POST", "/pipeline", { repoId, name: "ci" });
      mkdirSync(home);
      const agent = await startAgent(client, service.folder, "cold");
      const cold = await seconds(client, id);
      commit(git, change);
      // Simulates another machine: only the agent's cached copies are left.
      rmSync(home, { recursive: true });
      mkdirSync(home);
      const warm = await seconds(client, id);
      await agent.stop();
      rmSync(home, { recursive: true });
      const [before, after] = [cold, warm].map(
        ({ whole, step }) => `${whole.toFixed(1)} s (step ${step.toFixed(1)} s)`,
      );
      console.log(`${name}: ${before}, with a warm cache ${after}`);
      isFaster &&= warm.whole < cold.whole;
    }
    return isFaster;
  } finally {
    await service.remove();
    removeProgram();
  }
};
