import { createHash } from "node:crypto";
import { readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import type { Client } from "../../src/local/client.ts";
import type { ArtifactWithFiles } from "../../src/protocol/artifact.ts";
import type { Build } from "../../src/protocol/build.ts";
import { isEnded } from "../../src/protocol/build-states.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import type { Pipeline } from "../../src/protocol/pipeline.ts";
import { startAgent } from "../support/local/agent.ts";
import { connectRepository, makeRepository } from "../support/local/git-repository.ts";
import { startLocalService } from "../support/local/service.ts";
import { setup as bundleAgent } from "../support/set-up/agent.ts";
import { CuttingProxy } from "./cutting-proxy.ts";

const MIB = 1024 ** 2;
/** Parts that may be sent more than once: those under way at two cuts and a restart. */
const SPARE_PARTS = 4;
/** Headers, lists of files and logs, which the proxy counts too. */
const OTHER_BYTES = 4 * MIB;
/** Of the agent's program, however large the artifact is: two parts, the copies that fetch makes of them, and garbage. */
const AGENT_MEMORY = 600 * MIB;
const SMALL_FILES = 5_000;

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

const fileOf = (bytes: number): string => `jobs:
  big:
    steps: [{ run: 'head -c ${bytes} /dev/urandom > big; sha256sum < big > sum' }]
    artifacts: [{ name: sum, path: sum }, { name: big, path: big, keep-days: 1 }]
  small:
    needs: [big]
    steps: [{ run: 'mkdir -p s; for n in $(seq ${SMALL_FILES}); do echo $n > s/$n; done' }]
    artifacts: [{ name: small, path: s/, keep-days: 1 }]
`;

const ended = async (client: Client, id: string): Promise<Build> => {
  for (;;) {
    // The service is away while it restarts.
    const build = await client.call<Build>("GET", `/build/${id}`).catch(() => null);
    if (build && isEnded(build.status)) return build;
    await sleep(1000);
  }
};

/** The most memory that a process had at a time. */
const mostMemory = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;

const READ_AT_ONCE = 256 * MIB;

/** Reads a file in ranges, as a client does that goes on where it was cut off. */
const bytesOf = async ({ url, token }: Client, path: string, size = 1) => {
  const hash = createHash("sha256");
  const text: string[] = [];
  for (let from = 0; from < size; from += READ_AT_ONCE) {
    const Range = `bytes=${from}-${from + READ_AT_ONCE - 1}`;
    const answer = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${token}`, Range } });
    if (answer.status !== 206) throw new Error(`${path}, ${Range}: ${answer.status}`);
    for await (const piece of answer.body ?? []) {
      hash.update(piece);
      if (text.length < 2) text.push(Buffer.from(piece).toString("latin1"));
    }
  }
  return { sha256: hash.digest("hex"), text: text.join("") };
};

/** Sends a large artifact while connections are cut twice and the service restarts once; then one of 5,000 files. */
export const drill = async ({ gib = 10 }: { gib?: number }): Promise<boolean> => {
  const bytes = gib * 1024 ** 3;
  const { bavail, bsize } = statfsSync(tmpdir());
  if (bavail * bsize < 3 * bytes) throw new Error(`${tmpdir()} has no room for three times ${gib} GiB`);
  const removeProgram = await bundleAgent();
  const service = await startLocalService({ LEASE_SECONDS: "60", HEARTBEAT_SECONDS: "5", POLL_SECONDS: "20" });
  const proxy = new CuttingProxy(service.port);
  try {
    const client = await service.newOrganization("acme");
    const agent = await startAgent(client, service.folder, "artifacts", { url: await proxy.listen() });
    proxy.cuts = [0.2 * bytes, 0.5 * bytes];
    const restarts: Promise<void>[] = [];
    proxy.at.push({ bytes: 0.7 * bytes, act: () => void restarts.push(service.restart()) });
    const repository = await connectRepository(
      client,
      makeRepository(service.folder, { ".millrace.yml": fileOf(bytes) }),
    );
    const pipeline = await client.call<Pipeline>("POST", "/pipeline", { repoId: repository.id, name: "ci" });
    const { id } = await client.call<Build>("POST", "/build", { pipelineId: pipeline.id, branch: "main" });
    const build = await ended(client, id);
    await Promise.all(restarts);
    const [big, small] = ["big", "small"].map((key) => build.jobs?.find((job) => job.key === key));
    const sum = (await bytesOf(client, `/job/${big?.id}/artifact/sum/content/sum`)).text.split(" ")[0];
    const { sha256 } = await bytesOf(client, `/job/${big?.id}/artifact/big/content/big`, bytes);
    const { list } = await client.call<ArtifactWithFiles>("GET", `/job/${small?.id}/artifact/small`);
    const memory = mostMemory(agent.process.pid ?? 0);
    const spare = (proxy.sent - OTHER_BYTES - bytes) / LIMITS.artifactPartBytes;
    console.log(`build ${build.status}, attempts ${big?.attempt} and ${small?.attempt}: ${build.message ?? ""}`);
    console.log(
      `sent ${(proxy.sent / MIB).toFixed()} MiB for ${(bytes / MIB).toFixed()} MiB: ${spare.toFixed(1)} parts more`,
    );
    console.log(`most memory of the agent: ${(memory / MIB).toFixed()} MiB`);
    console.log(`sha-256 ${sha256 === sum ? "as made" : `${sha256}, made ${sum}`}; ${list.length} small files`);
    for (const job of [big, small]) {
      const log = await fetch(`${client.url}/job/${job?.id}/log`, {
        headers: { Authorization: `Bearer ${client.token}` },
      });
      console.log(
        (await log.text())
          .split("\n")
          .filter((line) => line.startsWith("artifact "))
          .join("\n"),
      );
      const seconds = (Date.parse(job?.finishedAt ?? "") - Date.parse(job?.startedAt ?? "")) / 1000;
      console.log(`${job?.key}: ${seconds.toFixed()} s, steps included`);
    }
    await agent.stop();
    const isOnce = big?.attempt === 1 && small?.attempt === 1;
    const isSound = build.status === "succeeded" && sha256 === sum && list.length === SMALL_FILES;
    return isSound && isOnce && spare <= SPARE_PARTS && memory <= AGENT_MEMORY;
  } finally {
    proxy.close();
    await service.remove();
    removeProgram();
  }
};
