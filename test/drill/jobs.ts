import type { Client } from "../../src/local/client.ts";
import type { Build } from "../../src/protocol/build.ts";
import { isEnded } from "../../src/protocol/build-states.ts";
import type { Pipeline } from "../../src/protocol/pipeline.ts";
import { connectRepository, makeRepository } from "../support/local/git-repository.ts";
import { Machine } from "../support/local/machine.ts";
import { startLocalService } from "../support/local/service.ts";
import { setup as bundleAgent } from "../support/set-up/agent.ts";

const BUILDS = 20;
const COMBINATIONS = 12;
/** A job fails after it has lost its agent this many times. */
const ATTEMPTS = 3;
/** Maximum milliseconds between two kills. */
const CALM = 4_000;
const PATIENCE = 300_000;

const FILE = `jobs:
  test:
    matrix: { n: [${Array.from({ length: COMBINATIONS }, (_, n) => n).join()}] }
    outputs: { n: "\${{ steps.run.outputs.n }}" }
    steps: [{ id: run, run: 'sleep 0.5; echo "n=${"${{ matrix.n }}"}" >> "$MILLRACE_OUTPUT"' }]
  join:
    needs: [test]
    outputs: { all: "\${{ steps.run.outputs.all }}" }
    steps:
      - id: run
        env: { ALL: "\${{ join(needs.test.jobs.*.outputs.n, ' ') }}" }
        run: echo "all=$ALL" >> "$MILLRACE_OUTPUT"
`;
const JOINED = Array.from({ length: COMBINATIONS }, (_, n) => n).join(" ");

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Kills agents one after another at random moments, until `isOver`. @returns the number of kills */
const killSome = async (machines: Machine[], isOver: () => boolean): Promise<number> => {
  let kills = 0;
  while (!isOver()) {
    await sleep(Math.random() * CALM);
    await machines[Math.floor(Math.random() * machines.length)]?.kill();
    kills++;
  }
  return kills;
};

/** Waits for the build's end. Returns the build as it is if that takes too long. */
const seen = async (client: Client, id: string): Promise<Build> => {
  const until = Date.now() + PATIENCE;
  for (;;) {
    const build = await client.call<Build>("GET", `/build/${id}`);
    if (isEnded(build.status) || Date.now() > until) return build;
    await sleep(500);
  }
};

const isLost = ({ reason }: { reason: string | null }): boolean => reason === "agent-lost";

/** Waits for one build while agents die, and retries it if jobs lost too many agents. @returns the problem, or null */
const problemOf = async (client: Client, { id }: Build): Promise<string | null> => {
  const { number, status, message, jobs } = await seen(client, id);
  const lost = (jobs ?? []).reduce((sum, { attempt }) => sum + Math.max(attempt - 1, 0), 0);
  console.log(`build ${number}: ${status}, ${lost} attempts lost`);
  const failed = (jobs ?? []).filter((job) => job.status === "failed");
  if (status === "failed" && failed.length > 0 && failed.every(isLost))
    return problemOf(client, await client.call<Build>("POST", `/build/${id}/retry`, { only: "failed" }));
  if (status !== "succeeded") return `build ${number} ${status}: ${message}`;
  const join = jobs?.find(({ key }) => key === "join");
  const { outputs } = await client.call<{ outputs: Record<string, string> }>("GET", `/job/${join?.id}`);
  return outputs.all === JOINED ? null : `build ${number} joined ${outputs.all}`;
};

/** Runs builds with several jobs one after the other, while the drill kills and restarts their agents. */
export const drill = async (): Promise<boolean> => {
  const removeProgram = await bundleAgent();
  const service = await startLocalService({ LEASE_SECONDS: "20", HEARTBEAT_SECONDS: "1", POLL_SECONDS: "20" });
  const machines: Machine[] = [];
  try {
    const client = await service.newOrganization("acme");
    for (const name of ["mac", "android", "web"] as const) machines.push(await Machine.start(service, client, name));
    const repository = await connectRepository(client, makeRepository(service.folder, { ".millrace.yml": FILE }));
    const body = { repoId: repository.id, name: "ci", maxAttempts: ATTEMPTS };
    const pipeline = await client.call<Pipeline>("POST", "/pipeline", body);
    let isOver = false;
    const killing = killSome(machines, () => isOver);
    const problems: (string | null)[] = [];
    for (let n = 0; n < BUILDS; n++) {
      const body = { pipelineId: pipeline.id, branch: "main" };
      problems.push(await problemOf(client, await client.call<Build>("POST", "/build", body)));
    }
    isOver = true;
    const found = problems.filter((problem) => problem !== null);
    console.log(`${BUILDS} builds of ${COMBINATIONS + 1} jobs, ${await killing} agents killed`, found);
    return found.length === 0;
  } finally {
    await Promise.all(machines.map((machine) => machine.stop()));
    await service.remove();
    removeProgram();
  }
};
