import type { Feature } from "../../src/protocol/jobs.ts";
import type { NewAgent } from "../../src/queue/commands/commands.ts";
import { isJobId } from "./files.ts";
import { sendPlan } from "./planner.ts";
import { ACTOR, ORG, type Simulator } from "./simulator.ts";
import { runsStrangers } from "./strangers.ts";

export interface CurrentJob {
  jobId: string;
  fence: number;
  isStarted: boolean;
  mustStop: boolean;
  result: {
    status: "succeeded" | "failed" | "canceled";
    exitCode: number | null;
    reason?: "pipeline-invalid" | "checkout-failed";
  } | null;
}

/** A hand-out on its way through the Worker, with its next stage: read D1, deliver, answer the agent. */
export interface HandOut {
  agent: SimAgent;
  jobId: string;
  fence: number;
  stage: "read" | "deliver" | "answer";
}

/** A correct agent program on a machine that may crash or freeze at any time. */
export class SimAgent {
  readonly simulator: Simulator;
  id = "";
  boot = "";
  condition: "up" | "crashed" | "frozen" = "up";
  job: CurrentJob | null = null;
  /** Keeps working after it was asked to stop. */
  readonly isStubborn: boolean;
  isUnregistered = false;
  /** The features that its program reports; undefined if no file has jobs. */
  features: Feature[] | undefined;

  constructor(simulator: Simulator, skills: Partial<NewAgent>) {
    this.simulator = simulator;
    this.isStubborn = simulator.random.chance(0.15);
    if (simulator.hasJobs) this.install(simulator.random.chance(0.8));
    else this.install(true);
    this.register(skills);
  }

  get caller() {
    return { agentId: this.id, tokenHash: `hash of ${this.id}` };
  }

  register(skills: Partial<NewAgent>): void {
    const { simulator } = this;
    this.id = simulator.newId("a");
    this.boot = simulator.newId("boot");
    const { random } = simulator;
    const answer = simulator.call("registerAgent", {
      id: this.id,
      orgId: ORG,
      name: this.id,
      tokenHash: `hash of ${this.id}`,
      actor: ACTOR,
      platform: random.chance(0.6) ? 2 : 1,
      canBuildIOS: random.chance(0.5),
      canBuildAndroid: true,
      canBuildWeb: random.chance(0.8),
      labels: [...(random.chance(0.5) ? ["x"] : []), ...this.#labelOfStrangers],
      registeredBy: { tokenId: simulator.registrationToken, kind: "registration", name: "r" },
      ...skills,
    });
    if (!answer.ok) throw new Error(`the registration was rejected: ${answer.refusal.detail}`);
  }

  /** Installs a program of this release, or of an earlier one. Half of the earlier ones cannot even run jobs. */
  install(isNew: boolean): void {
    const { hasJobs, hasForks } = this.simulator;
    if (!hasJobs && !hasForks) return;
    const before: Feature[] = this.id.charCodeAt(this.id.length - 1) % 2 === 0 ? [] : ["environment", "jobs"];
    const ofJobs: Feature[] = hasJobs ? ["environment", "jobs", "include"] : [];
    this.features = isNew ? [...ofJobs, ...(hasForks ? ["untrusted" as const] : [])] : before;
  }

  get #labelOfStrangers(): string[] {
    return this.simulator.hasForks && runsStrangers(this.id) ? ["untrusted"] : [];
  }

  /** The machine's versions. An agent that heals the history has both. */
  get #xcodes(): string[] {
    if (this.simulator.isHealing) return ["16.4", "26.1"];
    return this.id.charCodeAt(this.id.length - 1) % 2 === 0 ? ["26.1"] : ["16.4"];
  }

  /** The call with which it requests work. */
  get #asking() {
    const { caller, boot: bootId, features } = this;
    return { ...caller, bootId, xcodes: this.#xcodes, ...(features && { features }) };
  }

  /** Takes the program's next action. */
  step(handOuts: HandOut[]): void {
    const { simulator } = this;
    if (this.isUnregistered) return;
    if (this.condition === "crashed") this.#restart();
    else if (this.condition === "frozen") this.#thaw();
    else if (simulator.injectFault("agent crash", this.job ? 0.05 : 0.01, this.id)) this.#crash();
    else if (simulator.injectFault("agent freeze", this.job ? 0.06 : 0.01, this.id)) this.condition = "frozen";
    else if (!this.job) this.#lookForWork(handOuts);
    else if (!this.job.isStarted) this.#start(this.job);
    else this.#work(this.job);
  }

  #crash(): void {
    this.condition = "crashed";
    this.job = null;
    if (this.simulator.random.chance(0.5)) this.simulator.closeSocket(this.id);
    else this.simulator.sockets.breakOff(this.id);
  }

  #restart(): void {
    if (!this.simulator.isHealing && !this.simulator.random.chance(0.3)) return;
    this.condition = "up";
    this.boot = this.simulator.newId("boot");
    const { hasJobs, isHealing, random } = this.simulator;
    if (hasJobs && !isHealing && random.chance(0.2)) this.install(random.chance(0.8));
  }

  #thaw(): void {
    if (!this.simulator.isHealing && !this.simulator.random.chance(0.2)) return;
    this.condition = "up";
    if (this.job) this.simulator.countFault("zombie", this.id);
  }

  #lookForWork(handOuts: HandOut[]): void {
    const { simulator, id } = this;
    if (simulator.sockets.has(id)) {
      if (simulator.hinted.delete(id)) this.poll(handOuts);
      else if (simulator.random.chance(0.02)) simulator.closeSocket(id);
      return;
    }
    if (simulator.random.chance(0.1)) {
      const beat = simulator.request("heartbeat", { ...this.caller, bootId: this.boot });
      if (beat && !beat.ok) this.isUnregistered = true;
      return;
    }
    this.poll(handOuts);
    const hasWork = this.job || handOuts.some(({ agent }) => agent === this);
    if (!hasWork && !this.isUnregistered && simulator.random.chance(0.7)) this.#wait();
  }

  #wait(): void {
    const { simulator, id } = this;
    const until = simulator.random.chance(0.5) ? null : simulator.now + 50_000;
    const answer = simulator.request("wait", { ...this.#asking, until });
    if (answer?.ok) simulator.sockets.open(id, until);
  }

  poll(handOuts: HandOut[]): void {
    const grant = this.simulator.request("claim", this.#asking);
    if (!grant) return;
    if (!grant.ok) this.isUnregistered = true;
    else if (grant.value) {
      const { jobId, fence } = grant.value;
      handOuts.push({ agent: this, jobId, fence, stage: "read" });
    }
  }

  /** Sends a heartbeat and polls, but no answer arrives. */
  pollWithoutAnswer(): void {
    if (this.isUnregistered || this.condition !== "up") return;
    this.simulator.call("heartbeat", { ...this.caller, bootId: this.boot });
    this.simulator.call("claim", this.#asking);
  }

  /** The answer to its poll arrives, if the program still runs. */
  receiveJob(jobId: string, fence: number): void {
    if (this.condition !== "up" || this.isUnregistered || this.job?.isStarted) return;
    this.job = { jobId, fence, isStarted: false, mustStop: false, result: null };
    // Its own socket may stay open; heartbeats then use it.
    const { simulator, id } = this;
    const keepsSocket = simulator.sockets.hasOwn(id) && simulator.random.chance(simulator.hasLongBuilds ? 0.95 : 0.7);
    if (!keepsSocket) simulator.closeSocket(id);
  }

  #leaseOf({ jobId, fence }: CurrentJob) {
    return { ...this.caller, jobId, fence };
  }

  #start(job: CurrentJob): void {
    const answer = this.simulator.request("start", this.#leaseOf(job));
    if (answer?.ok) job.isStarted = true;
    else if (answer) this.#dropJob(answer.refusal.kind);
  }

  #dropJob(refusal: string): void {
    this.job = null;
    if (refusal === "unauthenticated") this.isUnregistered = true;
  }

  #work(job: CurrentJob): void {
    this.simulator.artifacts.work(this.simulator, this.#leaseOf(job));
    const { random, hasLongBuilds, isHealing } = this.simulator;
    if (!job.result && !job.mustStop && this.#reads(job)) return;
    const finishes = random.chance(hasLongBuilds && !isHealing ? 0.04 : 0.25);
    const isAlone = hasLongBuilds && !this.simulator.sockets.has(this.id);
    if (random.chance(isAlone ? 0.5 : 0.06)) this.#changeSocket();
    else if (job.mustStop && this.isStubborn) this.#heartbeat(job);
    else if (isJobId(job.jobId) && random.chance(0.04)) this.#interrupt(job);
    else if (!job.result && !job.mustStop && this.simulator.isGitHostRestricted && random.chance(0.6))
      this.#releaseUnfetched(job);
    else if (job.result || job.mustStop || finishes) this.#finish(job);
    else if (random.chance(hasLongBuilds ? 0.9 : 0.7)) this.#heartbeat(job);
    else if (random.chance(0.85) || this.simulator.isHealing) this.#reportProgress(job);
    else if (random.chance(0.4)) this.#interrupt(job);
    else this.#release(job);
  }

  /** Reads the file of the job with which a build begins. @returns whether that was its whole action */
  #reads(job: CurrentJob): boolean {
    const { simulator } = this;
    const kind = simulator.files.kindOf(job.jobId);
    if (kind === "steps" || !simulator.random.chance(0.7)) return false;
    if (!this.features?.includes("jobs")) job.result = { status: "failed", exitCode: null, reason: "pipeline-invalid" };
    else {
      const answer = sendPlan(simulator, this.#leaseOf(job), kind);
      if (answer) this.#dropJob(answer.ok ? "" : answer.refusal.kind);
    }
    return job.result === null;
  }

  #reportProgress(job: CurrentJob): void {
    const commitSha = this.simulator.random.chance(0.5) ? "c".repeat(40) : undefined;
    const answer = this.simulator.request("progress", { ...this.#leaseOf(job), commitSha, summary: "so far" });
    if (answer && !answer.ok) this.#dropJob(answer.refusal.kind);
  }

  #release(job: CurrentJob): void {
    const { random } = this.simulator;
    const requires = random.chance(0.7)
      ? { labels: [random.pick(["x", "y"])] }
      : { platform: random.pick(["linux", "macos"] as const) };
    const answer = this.simulator.request("release", { ...this.#leaseOf(job), reason: "not for me", requires });
    if (answer) this.#dropJob(answer.ok ? "" : answer.refusal.kind);
  }

  /** It cannot fetch the repository. If no other agent may try, it must finish the build itself. */
  #releaseUnfetched(job: CurrentJob): void {
    const answer = this.simulator.request("release", {
      ...this.#leaseOf(job),
      reason: "no way there",
      elsewhere: true,
    });
    if (answer?.ok) this.job = null;
    else if (answer?.refusal.kind === "conflict") this.#finish(job);
    else if (answer) this.#dropJob(answer.refusal.kind);
  }

  /** The program is stopped by force: it releases its build and restarts later. */
  #interrupt(job: CurrentJob): void {
    this.simulator.request("release", { ...this.#leaseOf(job), reason: "stopped", interrupted: true });
    this.#crash();
  }

  /** Its own socket closes, or reopens. */
  #changeSocket(): void {
    const { simulator, id } = this;
    const isOpen = simulator.sockets.has(id);
    if (isOpen) simulator.closeSocket(id);
    const call = { ...this.#asking, until: null };
    if (!isOpen && simulator.request("wait", call)?.ok) simulator.sockets.open(id, null);
  }

  /** Uses the socket if there is one. Uses HTTP otherwise, or if the socket gave no answer. */
  #heartbeat(job: CurrentJob): void {
    const { simulator } = this;
    const beat = { ...this.#leaseOf(job), bootId: this.boot };
    const isByHttp = simulator.random.chance(0.1);
    const answer = (isByHttp ? undefined : simulator.beat(beat)) ?? simulator.request("heartbeat", beat);
    if (!answer) return;
    if (!answer.ok) this.#dropJob(answer.refusal.kind);
    else if (answer.value.reason === "lease-lost") this.job = null;
    else job.mustStop = answer.value.cancel;
  }

  #finish(job: CurrentJob): void {
    const { random } = this.simulator;
    job.result ??= job.mustStop
      ? { status: "canceled", exitCode: null }
      : random.chance(isJobId(job.jobId) ? 0.6 : 0.7)
        ? { status: "succeeded", exitCode: 0 }
        : {
            status: "failed",
            exitCode: 1,
            ...(isJobId(job.jobId) && random.chance(0.15) && { reason: "checkout-failed" }),
          };
    const result = { ...this.#leaseOf(job), ...job.result, ...(isJobId(job.jobId) && this.#outputsOf(job)) };
    const answer = this.simulator.request("finish", result);
    if (random.chance(0.05)) this.simulator.request("finish", { ...this.#leaseOf(job), ...contradicting(job.result) });
    if (answer) this.#dropJob(answer.ok ? "" : answer.refusal.kind);
  }

  /** The outputs of a job: different texts with each lease. */
  #outputsOf({ fence }: CurrentJob) {
    return { outputs: { word: fence % 3 === 0 ? "no" : "yes", lease: String(fence) } };
  }
}

/** The opposite result, which a faulty agent may report after the first one. */
const contradicting = ({ status }: { status: string }) =>
  status === "failed" ? { status: "succeeded" as const, exitCode: 0 } : { status: "failed" as const, exitCode: 7 };
