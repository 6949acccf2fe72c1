import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { Client } from "../../../src/local/client.ts";
import type { Agent } from "../../../src/protocol/agent.ts";
import type { Artifact, OpenedArtifact } from "../../../src/protocol/artifact.ts";
import type { AuditEntry } from "../../../src/protocol/audit.ts";
import type { Build } from "../../../src/protocol/build.ts";
import type { OpenedCache } from "../../../src/protocol/cache.ts";
import type { Job } from "../../../src/protocol/jobs.ts";
import type { Metrics } from "../../../src/protocol/metrics.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import type { Repository } from "../../../src/protocol/repository.ts";
import { packed, sha256 } from "../../support/artifact-files.ts";
import type { LocalService } from "../../support/local/service.ts";

const ORG = "by-hand";
const REPOSITORY = { gitHostRepoId: 1, fullName: "acme/app", cloneUrl: "https://git.example/acme/app.git" };
const SKILLS = { platform: 2, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: false };

/** Two parts; the second one has 4 bytes. */
const PART = 32 * 1024 * 1024;
const FILE = packed({ "app.bin": new Uint8Array(PART + 4).fill(97).fill(98, PART) });
const ENTRY = new TextEncoder().encode("an entry of the cache");

const md5 = (...parts: Uint8Array[]): Buffer => {
  const hash = createHash("md5");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** An agent with its job. */
interface Holder {
  agent: Agent & { token: string };
  job: Job;
}

/** The part of the upload that is already sent. The upload ends under the next release. */
interface Begun<Opened> {
  opened: Opened;
  etag: string;
}

/**
 * Agents that speak the protocol by hand, so that each pauses in the middle of its work during the upgrade. They do not
 * renew their leases: the upgrade follows at once.
 */
export class ByHand {
  readonly #service: LocalService;
  readonly #client: Client;
  #assigned!: Holder;
  #canceling!: Holder;
  #sending!: Holder;
  #ended!: Holder;
  #artifact!: Begun<OpenedArtifact>;
  #entry!: Begun<OpenedCache>;

  private constructor(service: LocalService, client: Client) {
    this.#service = service;
    this.#client = client;
  }

  static async begin(service: LocalService): Promise<ByHand> {
    const begun = new ByHand(service, await service.newOrganization(ORG));
    await begun.#begin();
    return begun;
  }

  async #begin(): Promise<void> {
    const { id: repoId } = await this.#client.call<Repository>("POST", "/repository", REPOSITORY);
    const { id } = await this.#client.call<Pipeline>("POST", "/pipeline", { repoId, name: "ci" });
    this.#sending = await this.#take(id, "sending");
    await this.#call(this.#sending, "POST", "start");
    await this.#sendHalf();
    this.#canceling = await this.#take(id, "canceling");
    await this.#call(this.#canceling, "POST", "start");
    const canceled = await this.#client.call<Build>("POST", `/build/${this.#canceling.job.build.id}/cancel`);
    expect(canceled.status).toBe("canceling");
    this.#assigned = await this.#take(id, "assigned");
    this.#ended = await this.#take(id, "ended");
    await this.#endUntold();
  }

  async #take(pipelineId: string, name: string): Promise<Holder> {
    const body = { name, ...SKILLS };
    const agent = await this.#client.call<Agent & { token: string }>("POST", "/buildagent/register", body);
    const build = await this.#client.call<Build>("POST", "/build", { pipelineId, branch: "main" });
    const job = await this.#send<Job>(agent.token, "GET", `/buildagent/${agent.id}/poll?wait=0`);
    expect(job.build.id).toBe(build.id);
    return { agent, job };
  }

  /** Sends one part of an artifact with two, and a cache entry without its end. */
  async #sendHalf(): Promise<void> {
    const { list, bytes } = FILE;
    const opening = { name: "app", as: "files", bytes: bytes.length, files: list.length };
    const artifact = await this.#call<OpenedArtifact>(this.#sending, "POST", "artifact", opening);
    expect(artifact).toMatchObject({ partBytes: PART, parts: 2 });
    const path = `artifact/${artifact.artifactId}/part/1`;
    this.#artifact = { opened: artifact, etag: await this.#sendPart(path, artifact, bytes.subarray(0, PART)) };
    const saved = { key: "deps", bytes: ENTRY.length, sha256: sha256(ENTRY), codec: "gzip" };
    const entry = await this.#call<OpenedCache>(this.#sending, "POST", "cache", saved);
    this.#entry = { opened: entry, etag: await this.#sendPart(`cache/${entry.cacheId}/part/1`, entry, ENTRY) };
  }

  async #sendPart(path: string, { grant }: { grant: string }, bytes: Uint8Array): Promise<string> {
    const headers = { "X-Grant": grant, "X-Content-SHA256": sha256(bytes) };
    return (await this.#call<{ etag: string }>(this.#sending, "PUT", path, bytes, headers)).etag;
  }

  /**
   * Ends a build while the database rejects this organization's ended builds. The change stays in the pool's outbox.
   */
  async #endUntold(): Promise<void> {
    for (const change of ["INSERT", "UPDATE"]) {
      const refuse = `CREATE TRIGGER no_end_${change} BEFORE ${change} ON build_summary
        WHEN NEW.org_id = '${ORG}' AND NEW.finished_at IS NOT NULL BEGIN SELECT RAISE(ABORT, 'away'); END`;
      await this.#service.db().prepare(refuse).run();
    }
    await this.#call(this.#ended, "POST", "start");
    await this.#call(this.#ended, "PUT", "log?offset=0&final=true", new TextEncoder().encode("all of it\n"));
    await this.#finish(this.#ended, "succeeded");
    await this.expectUntold();
  }

  async expectUntold(): Promise<void> {
    const told = this.#service.db().prepare("SELECT finished_at FROM build_summary WHERE id = ?");
    expect(await told.bind(this.#ended.job.build.id).first()).toEqual({ finished_at: null });
  }

  /** Continues each agent under today's service, with the call that it would have made next. */
  async expectEnds(): Promise<void> {
    const { bytes, list } = FILE;
    const { opened, etag } = this.#artifact;
    const last = bytes.subarray(PART);
    const etags = [etag, await this.#sendPart(`artifact/${opened.artifactId}/part/2`, opened, last)];
    const whole = md5(md5(bytes.subarray(0, PART)), md5(last)).toString("hex");
    const end = { list, etags, md5: whole };
    const grant = (of: { grant: string }) => ({ "X-Grant": of.grant });
    await this.#call(this.#sending, "POST", `artifact/${opened.artifactId}/done`, end, grant(opened));
    const entry = this.#entry.opened;
    await this.#call(this.#sending, "POST", `cache/${entry.cacheId}/done`, { etags: [this.#entry.etag] }, grant(entry));
    await this.#finish(this.#sending, "succeeded");
    await this.#finish(this.#canceling, "canceled");
    await this.#call(this.#assigned, "POST", "start");
    await this.#finish(this.#assigned, "succeeded");
    await this.expectUntold();
    for (const change of ["INSERT", "UPDATE"]) await this.#service.db().prepare(`DROP TRIGGER no_end_${change}`).run();
    await this.#expectSent();
    await this.#expectListed();
  }

  async #expectSent(): Promise<void> {
    const { id } = this.#sending.job.build;
    const artifacts = await this.#client.call<Artifact[]>("GET", `/build/${id}/artifact`);
    expect(artifacts).toMatchObject([
      { id: this.#artifact.opened.artifactId, jobId: id, name: "app", bytes: PART + 4 },
    ]);
    const url = `${this.#client.url}/job/${id}/artifact/app/content/app.bin`;
    const headers = { Authorization: `Bearer ${this.#client.token}`, Range: `bytes=${PART - 2}-${PART + 1}` };
    expect(await (await fetch(url, { headers })).text()).toBe("aabb");
    const { repoId } = this.#sending.job.build;
    const entries = await this.#client.call<{ key: string }[]>("GET", `/repository/${repoId}/cache`);
    expect(entries.map(({ key }) => key)).toEqual(["deps"]);
  }

  async #expectListed(): Promise<void> {
    const outbox = async () => (await this.#client.call<Metrics>("GET", "/buildagent/metrics")).outbox.builds;
    await expect.poll(outbox).toBe(0);
    const holders = [this.#sending, this.#canceling, this.#assigned, this.#ended];
    const expected = holders.map(({ agent, job }, index) => ({
      ...{ id: job.build.id, number: index + 1, attempt: 1, agentId: agent.id },
      status: agent.name === "canceling" ? "canceled" : "succeeded",
    }));
    const listed = await this.#client.call<Build[]>("GET", "/build");
    expect(listed.sort((one, other) => one.number - other.number)).toMatchObject(expected);
    const created = await this.#client.call<AuditEntry[]>("GET", "/audit?action=build.create");
    expect(created.map(({ subject }) => subject).sort()).toEqual(expected.map(({ id }) => id).sort());
    const headers = { Authorization: `Bearer ${this.#client.token}` };
    const log = await fetch(`${this.#client.url}/build/${this.#ended.job.build.id}/log`, { headers });
    expect(await log.text()).toBe("all of it\n");
  }

  async #finish(holder: Holder, status: string): Promise<void> {
    const exitCode = status === "succeeded" ? 0 : null;
    expect(await this.#call(holder, "POST", "finish", { status, exitCode })).toMatchObject({ status });
  }

  /** Calls the service about the agent's job, under its lease. */
  #call<T>(
    { agent, job }: Holder,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<T> {
    const lease = { "X-Lease": String(job.lease), ...headers };
    return this.#send<T>(agent.token, method, `/job/${job.build.id}/${path}`, body, lease);
  }

  async #send<T>(
    token: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<T> {
    const isBytes = body instanceof Uint8Array;
    const type: Record<string, string> = isBytes || body === undefined ? {} : { "Content-Type": "application/json" };
    const response = await fetch(this.#client.url + path, {
      ...{ method, headers: { Authorization: `Bearer ${token}`, ...type, ...headers } },
      body: isBytes ? (body as BodyInit) : body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    expect(response.ok, `${method} ${path}: ${response.status} ${text}`).toBe(true);
    return (text.startsWith("{") ? JSON.parse(text) : undefined) as T;
  }
}
