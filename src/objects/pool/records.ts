import type { BuildRecord } from "../../archive/records.ts";
import { type Agent, type AgentRun, MOST_RUNS, RUNS_MS } from "../../protocol/agent.ts";
import type { Build } from "../../protocol/build.ts";
import type { Explanation } from "../../protocol/explain.ts";
import type { Metrics, PoolNow } from "../../protocol/metrics.ts";
import type { TestsOfJob } from "../../protocol/test-report.ts";
import type { Role } from "../../protocol/token.ts";
import { SECOND_MS } from "../../protocol/units.ts";
import type { Result, RunValues } from "../../queue/commands/commands.ts";
import { measure } from "../../queue/metrics/metrics.ts";
import { explainBuild, explainEach, explainEnded, explainJob } from "../../queue/read/explain-jobs.ts";
import { joinedSummaries } from "../../queue/read/job-records.ts";
import {
  countNow,
  endedUndelivered,
  type LiveQuery,
  liveIds,
  runsOfActiveBuilds,
  runsUnderWay,
} from "../../queue/read/live.ts";
import { toAgent, toBuild } from "../../queue/read/record.ts";
import type { Deleted, Deletion } from "../../queue/state/facts.ts";
import {
  type ArtifactsOfBuild,
  leftByJobs,
  seenArtifactsByJob,
  seenTestsByJob,
  type TestsOfBuild,
} from "./build-jobs.ts";
import type { LoadedBuild } from "./build-rows.ts";
import type { PoolEngine } from "./engine.ts";
import { JobRecords, unknownId } from "./job-records.ts";

/** Milliseconds for which the pool caches its metrics if it has this many agents and builds. */
const METRICS_MS = 5 * SECOND_MS;
const LARGE_POOL = 1_000;

/** Reads a pool for callers: its builds and agents as the API shows them. Changes nothing. */
export class PoolRecords {
  readonly #engine: PoolEngine;
  readonly jobs: JobRecords;
  #latestMetrics: Metrics | null = null;

  constructor(engine: PoolEngine) {
    this.#engine = engine;
    this.jobs = new JobRecords(engine);
  }

  /** Returns a build that the pool has. */
  build(buildId: string): Build {
    return this.#toBuild(this.#engine.storage.builds.find(buildId)!);
  }

  /** Returns the build with its jobs, for people. */
  toBuildAnswer(answer: Result<string>): Result<Build> {
    return answer.ok ? { ok: true, value: this.jobs.withJobs(this.build(answer.value)) } : answer;
  }

  /** Returns the build of an agent's job, for agents. */
  buildOfJob(answer: Result<string>): Result<Build> {
    return answer.ok ? { ok: true, value: this.build(this.jobs.findBuildId(answer.value)) } : answer;
  }

  /** Returns the planned jobs of an ended build that the pool remembers. */
  endedJobs(buildId: string): Deletion["jobs"] {
    const rows = [...this.#engine.storage.jobRows.of(buildId).values()];
    return rows.length > 0
      ? rows.flatMap(({ id, end }) => (end ? [{ id, finishedAt: end.finishedAt }] : []))
      : undefined;
  }

  /** Returns a build's artifacts. `id` is the build's own, or a job's. */
  findArtifacts(id: string): Result<{ buildId: string; artifacts: ArtifactsOfBuild }> {
    const buildId = this.jobs.findBuildId(id);
    const { storage } = this.#engine;
    if (!storage.builds.find(buildId)) return unknownId();
    return { ok: true, value: { buildId, artifacts: seenArtifactsByJob(storage, buildId) } };
  }

  /** Returns a build's test results. `id` is the build's own, or a job's. */
  findTests(id: string): Result<{ buildId: string; tests: TestsOfBuild }> {
    const buildId = this.jobs.findBuildId(id);
    const { storage } = this.#engine;
    if (!storage.builds.find(buildId)) return unknownId();
    return { ok: true, value: { buildId, tests: seenTestsByJob(storage, buildId) } };
  }

  /** Returns an ended job's test results, if somebody has to be notified of them. */
  testNews(jobId: string): TestsOfJob | undefined {
    const said = this.findTests(jobId);
    const tests = said.ok ? said.value.tests[jobId] : undefined;
    if (!said.ok || !tests?.hasNews) return undefined;
    const job = said.value.buildId === jobId ? null : this.jobs.job(jobId);
    return { ...tests, jobKey: job?.ok ? job.value.key : null };
  }

  /**
   * Joins a build's masked summaries. A planned job's summary appears under the job's name. Returns null if there is no
   * summary, or if the pool forgot the build.
   */
  joinSummaries(buildId: string): string | null {
    const build = this.findBuild(buildId);
    if (!build.ok) return null;
    const { summary, jobs } = build.value;
    if (!jobs) return summary;
    const { storage } = this.#engine;
    return joinedSummaries(jobs.values().map(({ id, key }) => ({ key, summary: storage.report(id).summary })));
  }

  /**
   * Finds a build. `deleted` says which parts of it somebody deleted.
   * @param hasFailedSteps whether the job whose failure counts has its steps
   */
  findBuild(buildId: string, hasFailedSteps = false): Result<Build> & { deleted?: Deleted | undefined } {
    const { storage } = this.#engine;
    const record = storage.builds.find(buildId);
    const deleted = storage.deletion(buildId)?.deleted;
    return record
      ? { ok: true, value: this.jobs.withJobs(this.#toBuild(record), hasFailedSteps), deleted }
      : { ...unknownId(), deleted };
  }

  /** Finds a build with its artifacts and test results, and with the steps of the job whose failure counts. */
  findRecord(buildId: string): Result<BuildRecord> & { deleted?: Deleted | undefined } {
    const found = this.findBuild(buildId, true);
    if (!found.ok) return found;
    return { ...found, value: { ...found.value, ...leftByJobs(this.#engine.storage.findJobs(buildId)) } };
  }

  findBuildWith(id: string): ReturnType<PoolRecords["findBuild"]> {
    return this.findBuild(this.jobs.findBuildId(id));
  }

  /** Returns active builds, the oldest first; with a query, returns the builds that it requests. */
  liveBuilds(query?: LiveQuery): Build[] {
    const { storage, state } = this.#engine;
    const records = query ? storage.builds.of(liveIds(state, query)) : storage.builds.active();
    return records.map((record) => this.jobs.withGates(this.#toBuild(record)));
  }

  /** Lists ids of active builds' logs that an agent wrote to and that have not moved to the archive. */
  leasedBuilds(): string[] {
    const { builds, jobs } = this.#engine.state;
    const planned = [...builds.values()].filter(({ plannedBy }) => plannedBy).map(({ id }) => id);
    const leased = [...jobs.values()].filter(({ fence, end }) => fence > 0 && !end).map(({ id }) => id);
    return [...planned, ...leased];
  }

  hasLiveBuilds(owner: { repoId?: string; pipelineId?: string }): boolean {
    return [...this.#engine.state.builds.values()].some(
      ({ repoId, pipelineId }) =>
        (owner.repoId !== undefined && repoId === owner.repoId) ||
        (owner.pipelineId !== undefined && pipelineId === owner.pipelineId),
    );
  }

  runValues(buildId: string): Result<RunValues> {
    const values = this.#engine.storage.runValues(buildId);
    return values ? { ok: true, value: values } : unknownId();
  }

  /** Explains why a build or a job waits. If the build or job does not wait, returns its state. */
  explanation(id: string): Result<Explanation> {
    const { storage, state, context } = this.#engine;
    const build = state.builds.get(id);
    if (build) return { ok: true, value: explainBuild(state, build, context, this.#pingedAt) };
    const job = state.jobs.get(id) ?? storage.endedJob(id)?.job;
    if (job && job.id !== job.buildId) return { ok: true, value: explainJob(state, job, context, this.#pingedAt) };
    const ended = storage.ended(id);
    return ended ? { ok: true, value: explainEnded(ended) } : unknownId();
  }

  /** Explains why each of these builds waits, in the words of `explainEach`. */
  whyEach(buildIds: string[]): Map<string, string> {
    const { state, context } = this.#engine;
    return explainEach(state, buildIds, context, this.#pingedAt);
  }

  metrics(): Metrics {
    const { state, orgId, context, storage } = this.#engine;
    const isLarge = state.agents.size + state.builds.size >= LARGE_POOL;
    const measured = this.#latestMetrics;
    if (isLarge && measured && context.now - Date.parse(measured.at) < METRICS_MS) return measured;
    this.#latestMetrics = measure(state, orgId, context, storage.deadLetters.count(), this.#pingedAt);
    return this.#latestMetrics;
  }

  now(role: Role): PoolNow {
    return countNow(this.#engine.state, role);
  }

  /** Returns an agent that the pool has. */
  agent(agentId: string): Agent {
    const { state, orgId } = this.#engine;
    return toAgent(state, orgId, state.agents.get(agentId)!, Date.now(), this.#pingedAt(agentId));
  }

  toAgentAnswer(answer: Result<string>): Result<Agent> {
    return answer.ok ? { ok: true, value: this.agent(answer.value) } : answer;
  }

  findAgent(agentId: string): Result<Agent> {
    return this.#engine.state.agents.has(agentId) ? { ok: true, value: this.agent(agentId) } : unknownId();
  }

  /** Lists agents in the order of their ids, after this one. */
  agents(after: string, limit: number, name?: string): Agent[] {
    const agents = [...this.#engine.state.agents.values()].filter(
      (agent) => agent.id > after && (name === undefined || agent.name === name),
    );
    const ids = agents.map(({ id }) => id).sort();
    return ids.slice(0, limit).map((id) => this.agent(id));
  }

  /**
   * Lists what these agents run now and what they ran within the last hour, the latest first, and at most as much as a
   * page shows.
   */
  runs(agentIds: readonly string[]): AgentRun[] {
    const { state, storage, context } = this.#engine;
    const since = context.now - RUNS_MS;
    const activeRuns = [...runsUnderWay(state, agentIds), ...runsOfActiveBuilds(state, agentIds, since)];
    const limit = Math.max(0, MOST_RUNS - activeRuns.length);
    const ended = storage.endedRuns({ agentIds, since, untold: endedUndelivered(state), limit });
    return [...activeRuns, ...ended].sort((one, other) => other.startedAt - one.startedAt);
  }

  readonly #pingedAt = (agentId: string): number => this.#engine.sockets.pingedAt(agentId);

  #toBuild({ build, first, report }: LoadedBuild): Build {
    return toBuild(this.#engine.orgId, build, first, report);
  }
}
