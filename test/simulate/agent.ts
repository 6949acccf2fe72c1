import type { NewAgent } from "../../src/domain/pool/commands.ts";
import { ACTOR, ORG, type World } from "./world.ts";

interface JobInHand {
  buildId: string;
  fence: number;
  isStarted: boolean;
  mustStop: boolean;
  result: { status: "succeeded" | "failed" | "canceled"; exitCode: number | null } | null;
}

/** A hand-out on its way through the Worker: claimed, read, delivered, answered. */
export interface HandOut {
  agent: SimAgent;
  buildId: string;
  fence: number;
  step: "read" | "deliver" | "answer";
}

/** An honest agent program on a machine that may crash or freeze at any time. */
export class SimAgent {
  readonly world: World;
  id = "";
  boot = "";
  condition: "up" | "crashed" | "frozen" = "up";
  job: JobInHand | null = null;
  isEphemeral = false;
  /** Goes on when it is told to stop. */
  readonly isStubborn: boolean;
  isGone = false;

  constructor(world: World, skills: Partial<NewAgent>) {
    this.world = world;
    this.isStubborn = world.chance.odds(0.15);
    this.register(skills);
  }

  get speaker() {
    return { agentId: this.id, tokenHash: `hash of ${this.id}` };
  }

  register(skills: Partial<NewAgent>): void {
    const { world } = this;
    this.id = world.id("a");
    this.boot = world.id("boot");
    this.isEphemeral = skills.isEphemeral ?? false;
    const { chance } = world;
    const answer = world.tell("registerAgent", {
      ...{ id: this.id, orgId: ORG, name: this.id, tokenHash: `hash of ${this.id}`, actor: ACTOR },
      ...{
        platform: chance.odds(0.6) ? 2 : 1,
        canBuildIOS: chance.odds(0.5),
        canBuildAndroid: true,
        canBuildWeb: chance.odds(0.8),
      },
      ...{ labels: chance.odds(0.5) ? ["x"] : [] },
      registeredBy: { tokenId: world.registrationToken, kind: "registration", name: "r" },
      ...skills,
    });
    if (!answer.ok) throw new Error("an agent could not register");
  }

  /** What the program does next. */
  turn(handOuts: HandOut[]): void {
    const { world } = this;
    if (this.isGone) return;
    if (this.condition === "crashed") this.#restart();
    else if (this.condition === "frozen") this.#thaw();
    else if (world.strikes("agent crash", this.job ? 0.05 : 0.01)) this.#crash();
    else if (world.strikes("agent freeze", this.job ? 0.06 : 0.01)) this.condition = "frozen";
    else if (!this.job) this.#lookForWork(handOuts);
    else if (!this.job.isStarted) this.#start(this.job);
    else this.#work(this.job);
  }

  #crash(): void {
    this.condition = "crashed";
    this.job = null;
    this.world.sockets.delete(this.id);
    if (this.world.chance.odds(0.5)) this.world.tell("leave", { agentId: this.id });
  }

  #restart(): void {
    if (!this.world.isCalm && !this.world.chance.odds(0.3)) return;
    this.condition = "up";
    this.boot = this.world.id("boot");
  }

  #thaw(): void {
    if (!this.world.isCalm && !this.world.chance.odds(0.2)) return;
    this.condition = "up";
    if (this.job) this.world.faults.set("zombie", (this.world.faults.get("zombie") ?? 0) + 1);
  }

  #lookForWork(handOuts: HandOut[]): void {
    const { world, id } = this;
    if (world.sockets.has(id)) {
      if (world.hinted.delete(id)) this.poll(handOuts);
      else if (world.chance.odds(0.02)) world.hangUp(id);
      return;
    }
    if (world.chance.odds(0.1)) {
      const beat = world.send("heartbeat", { ...this.speaker, bootId: this.boot });
      if (beat && !beat.ok) this.isGone = true;
      return;
    }
    this.poll(handOuts);
    if (!this.job && !this.isGone && !handOuts.some(({ agent }) => agent === this) && world.chance.odds(0.7))
      this.#wait();
  }

  #wait(): void {
    const { world, id } = this;
    const until = world.chance.odds(0.5) ? null : world.now + 50_000;
    const answer = world.send("wait", { ...this.speaker, bootId: this.boot, until });
    if (answer?.ok) world.sockets.set(id, until);
  }

  poll(handOuts: HandOut[]): void {
    const grant = this.world.send("claim", { ...this.speaker, bootId: this.boot });
    if (!grant) return;
    if (!grant.ok) this.isGone = true;
    else if (grant.value) {
      const { buildId, fence } = grant.value;
      handOuts.push({ agent: this, buildId, fence, step: "read" });
    }
  }

  /** Shows that it lives and asks for work, and hears nothing. */
  askInVain(): void {
    if (this.isGone || this.condition !== "up") return;
    const call = { ...this.speaker, bootId: this.boot };
    this.world.tell("heartbeat", call);
    this.world.tell("claim", call);
  }

  /** A job arrives, if anybody is there to take it. */
  receive(buildId: string, fence: number): void {
    if (this.condition !== "up" || this.isGone || this.job?.isStarted) return;
    this.job = { buildId, fence, isStarted: false, mustStop: false, result: null };
    this.world.sockets.delete(this.id);
    this.world.tell("leave", { agentId: this.id });
  }

  #about({ buildId, fence }: JobInHand) {
    return { ...this.speaker, buildId, fence };
  }

  #start(job: JobInHand): void {
    const answer = this.world.send("start", this.#about(job));
    if (answer?.ok) job.isStarted = true;
    else if (answer) this.#dropped(answer.refusal.kind);
  }

  #dropped(why: string): void {
    this.job = null;
    if (why === "unauthenticated") this.isGone = true;
  }

  #work(job: JobInHand): void {
    const { chance } = this.world;
    if (job.mustStop && this.isStubborn) this.#beat(job);
    else if (!job.result && !job.mustStop && this.world.isRemote && chance.odds(0.6)) this.#tryElsewhere(job);
    else if (job.result || job.mustStop || chance.odds(0.25)) this.#finish(job);
    else if (chance.odds(0.7)) this.#beat(job);
    else if (chance.odds(0.85) || this.world.isCalm) this.#report(job);
    else if (chance.odds(0.4)) this.#stop(job);
    else this.#release(job);
  }

  #report(job: JobInHand): void {
    const commitSha = this.world.chance.odds(0.5) ? "c".repeat(40) : undefined;
    const answer = this.world.send("progress", { ...this.#about(job), commitSha, summary: "so far" });
    if (answer && !answer.ok) this.#dropped(answer.refusal.kind);
  }

  #release(job: JobInHand): void {
    const { chance } = this.world;
    const requires = chance.odds(0.7)
      ? { labels: [chance.pick(["x", "y"])] }
      : { platform: chance.pick(["linux", "macos"] as const) };
    const answer = this.world.send("release", { ...this.#about(job), reason: "not for me", requires });
    if (answer) this.#dropped(answer.ok ? "" : answer.refusal.kind);
  }

  /** Cannot fetch it. Where nobody else may have it, it is for this agent to say how it ended. */
  #tryElsewhere(job: JobInHand): void {
    const answer = this.world.send("release", { ...this.#about(job), reason: "no way there", elsewhere: true });
    if (answer?.ok) this.job = null;
    else if (answer?.refusal.kind === "conflict") this.#finish(job);
    else if (answer) this.#dropped(answer.refusal.kind);
  }

  /** Its program is stopped by force, gives its build back, and is started again later. */
  #stop(job: JobInHand): void {
    this.world.send("release", { ...this.#about(job), reason: "stopped", interrupted: true });
    this.#crash();
  }

  #beat(job: JobInHand): void {
    const answer = this.world.send("heartbeat", { ...this.#about(job), bootId: this.boot });
    if (!answer) return;
    if (!answer.ok) this.#dropped(answer.refusal.kind);
    else if (answer.value.reason === "lease-lost") this.job = null;
    else job.mustStop = answer.value.cancel;
  }

  #finish(job: JobInHand): void {
    const { chance } = this.world;
    job.result ??= job.mustStop
      ? { status: "canceled", exitCode: null }
      : chance.odds(0.7)
        ? { status: "succeeded", exitCode: 0 }
        : { status: "failed", exitCode: 1 };
    const answer = this.world.send("finish", { ...this.#about(job), ...job.result });
    if (chance.odds(0.05)) this.world.send("finish", { ...this.#about(job), ...otherThan(job.result) });
    if (answer) this.#dropped(answer.ok ? "" : answer.refusal.kind);
  }
}

/** What an agent says that has changed its mind. */
const otherThan = ({ status }: { status: string }) =>
  status === "failed" ? { status: "succeeded" as const, exitCode: 0 } : { status: "failed" as const, exitCode: 7 };
