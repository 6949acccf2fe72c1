import type { Rules } from "../../src/domain/pool/rules.ts";
import { isEnded } from "../../src/protocol/build-states.ts";
import type { Requires } from "../../src/protocol/pipeline.ts";
import { type HandOut, SimAgent } from "./agent.ts";
import { DAY_MS } from "./laws.ts";
import { mischief } from "./mischief.ts";
import type { Onlooker } from "./pool.ts";
import { must } from "./violation.ts";
import { ACTOR, ORG, World } from "./world.ts";

const EVENTS = [
  ["agent", 42],
  ["hand-out", 22],
  ["time", 16],
  ["trigger", 7],
  ["late message", 4],
  ["mischief", 4],
  ["cancel", 2],
  ["flush", 2],
  ["drain", 1],
  ["remove", 0.6],
  ["register", 0.6],
  ["revoke", 0.15],
  ["silence", 0.3],
  ["evict", 1.5],
  ["restore", 2],
  ["clock", 0.4],
] as const;
const TOTAL = EVENTS.reduce((sum, [, weight]) => sum + weight, 0);
const BUILDS_AT_MOST = 9;
/** Rounds of calm, of five seconds each, after which every build must have ended. */
const PATIENCE = 600;

/** One seeded story from an empty pool to the end of all its builds. */
export class History {
  readonly world: World;
  readonly agents: SimAgent[] = [];
  readonly #handOuts: HandOut[] = [];
  /** Either a restore or clocks that go back, never both: no fence could grow across the two. */
  readonly #canRestore: boolean;
  #saved: (() => void) | null = null;

  constructor(seed: number, index: number, rules: Rules, onlooker?: Onlooker) {
    this.world = new World(seed, index, rules, onlooker);
    const { chance } = this.world;
    this.#canRestore = chance.odds(0.5);
    const count = 2 + chance.below(3);
    for (let made = 0; made < count; made++) this.#register();
  }

  /** @throws Violation where something happens that must never happen */
  run(events = 40 + this.world.chance.below(80)): void {
    if (this.world.chance.odds(0.02)) this.#playDeaf();
    for (let event = 0; event < events; event++) this.#event();
    this.#calm();
  }

  /** Behind this network no answer reaches any agent: leases end unstarted, again and again. */
  #playDeaf(): void {
    this.#trigger();
    for (let round = 0; round < 25; round++) {
      for (const agent of this.agents) agent.askInVain();
      this.world.pass(31_000);
    }
  }

  #event(): void {
    const { world, agents } = this;
    const { chance } = world;
    const acts: Record<(typeof EVENTS)[number][0], () => unknown> = {
      agent: () => chance.pick(agents).turn(this.#handOuts),
      "hand-out": () => this.#advance(),
      time: () => world.pass(chance.pick([1, 500, 2_500, 7_000, 16_000, 35_000, 70_000])),
      trigger: () => this.#trigger(),
      "late message": () => world.late.splice(chance.below(world.late.length), 1)[0]?.(),
      mischief: () => mischief(world, agents),
      cancel: () => this.#cancel(),
      flush: () => world.flush(),
      drain: () => this.#drain(chance.odds(0.5)),
      remove: () => this.#remove(),
      register: () => this.#register(),
      revoke: () => this.#revoke(),
      silence: () => this.#keepSilent(),
      evict: () => world.strikes("object evicted", 1) && world.evict(),
      restore: () => this.#canRestore && this.#saveOrRestore(),
      clock: () => !this.#canRestore && this.#jump(),
    };
    acts[chance.weigh(EVENTS, TOTAL)]();
  }

  #jump(): void {
    const { world } = this;
    if (world.strikes("clock jump", 1)) world.now += world.chance.pick([-90_000, -3_000, 40_000, 200_000]);
  }

  #register(): void {
    const { world } = this;
    const isEphemeral = world.chance.odds(0.12);
    this.agents.push(new SimAgent(world, { isEphemeral }));
  }

  #trigger(): void {
    const { world } = this;
    const { chance } = world;
    if (world.builds.length >= BUILDS_AT_MOST) return;
    const { id: pipelineId, repoId, maxParallel, maxAttempts, timeoutSeconds, platform } = chance.pick(world.pipelines);
    const requires: Requires = { platform, web: chance.odds(0.2), labels: chance.odds(0.2) ? ["x"] : [] };
    const key = chance.odds(0.4) ? `k${chance.below(4)}` : null;
    const answer = world.send("enqueue", {
      ...{ id: world.id("b"), orgId: ORG, repoId, pipelineId, pipelineVersion: 1, branch: "main", commitSha: null },
      ...{
        trigger: "api",
        priority: chance.pick([0, 0, 0, 5, -5]),
        requires,
        timeoutSeconds,
        maxParallel,
        maxAttempts,
      },
      ...{ inputs: null, secretKeys: [], retryOf: null, actor: ACTOR },
      idempotency: key === null ? null : { key, caller: "c", bodyHash: chance.odds(0.9) ? "same" : "other" },
    });
    if (answer?.ok && !world.builds.includes(answer.value.buildId)) world.builds.push(answer.value.buildId);
  }

  /** One step of the Worker's way from the claim to the answer; between any two of them anything may happen. */
  #advance(): void {
    const { world } = this;
    const handOuts = this.#handOuts;
    if (handOuts.length === 0) return;
    const at = world.chance.below(handOuts.length);
    const { agent, buildId, fence, step } = handOuts[at]!;
    const over = () => handOuts.splice(at, 1);
    if (world.strikes("Worker died", 0.03)) {
      over();
      return;
    }
    if (step === "read") {
      if (world.strikes("D1 away", 0.08)) {
        over();
        world.send("unclaim", { buildId, fence, notBefore: world.now + 5_000 });
      } else if (world.strikes("secret unreadable", 0.02)) {
        over();
        world.send("failClaim", {
          buildId,
          fence,
          reason: "environment",
          message: "A secret's sealed value is damaged.",
        });
      } else handOuts[at]!.step = "deliver";
      return;
    }
    if (step === "deliver") {
      const environment = [{ key: "A", scope: "organization", isSecret: true, version: 1 } as const];
      const answer = world.tell("deliver", { buildId, fence, agentId: agent.id, environment });
      if (answer.ok) handOuts[at]!.step = "answer";
      else over();
      return;
    }
    over();
    if (!world.strikes("answer lost", 0.08)) agent.receive(buildId, fence);
  }

  #cancel(): void {
    const { world } = this;
    if (world.builds.length === 0 || !world.strikes("cancel", 1)) return;
    world.send("cancel", { buildId: world.chance.pick(world.builds), actor: ACTOR });
  }

  #drain(isDraining: boolean): void {
    const agent = this.world.chance.pick(this.agents);
    this.world.tell("updateAgent", { agentId: agent.id, change: { isDraining }, actor: ACTOR });
  }

  #remove(): void {
    const { world } = this;
    const agent = world.chance.pick(this.agents);
    if (agent.isGone || !world.strikes("removal", 1)) return;
    const answer = world.tell("removeAgent", { agentId: agent.id, actor: ACTOR });
    if (answer.ok) world.sockets.delete(agent.id);
  }

  /** No message takes as long as that. */
  #keepSilent(): void {
    const { world } = this;
    if (!world.strikes("months of silence", 1)) return;
    world.late.length = 0;
    world.pass(world.chance.pick([50, 95]) * DAY_MS);
  }

  /** All agents of a token go with it; others register by the next one. */
  #revoke(): void {
    const { world } = this;
    if (!world.strikes("token revoked", 1)) return;
    const order = { tokenId: world.registrationToken, wasThere: true, actor: ACTOR };
    const answer = world.tell("removeAgentsOf", order);
    if (answer.ok) for (const id of answer.value.removed) world.sockets.delete(id);
    world.registrationToken = world.id("t");
    this.#register();
  }

  #saveOrRestore(): void {
    const { world } = this;
    const { pool } = world;
    if (this.#saved) {
      if (!world.strikes("restore", 1)) return;
      this.#saved();
      this.#saved = null;
      return;
    }
    const rows = pool.disk.copy();
    const memory = pool.witness.copy();
    this.#saved = () => {
      pool.disk.rows = rows;
      pool.witness.memory = memory;
      world.now += 5_000;
      world.evict(true);
      world.database.restored(pool.disk);
    };
  }

  /** Nothing goes wrong any more: every build must end, and D1 must know all of it. */
  #calm(): void {
    const { world } = this;
    const { pool } = world;
    world.isCalm = true;
    for (const message of world.late.splice(0)) message();
    for (const platform of [1, 2]) {
      const able = { platform, canBuildIOS: true, canBuildWeb: true, labels: ["x", "y"], isEphemeral: false };
      this.agents.push(new SimAgent(world, able));
    }
    for (const { id } of this.agents)
      world.tell("updateAgent", { agentId: id, change: { isDraining: false }, actor: ACTOR });
    for (let round = 0; pool.state.builds.size > 0; round++) {
      must(17, round < PATIENCE, `${[...pool.state.builds.values()].map(({ status }) => status).join(", ")} for ever`);
      while (this.#handOuts.length > 0) this.#advance();
      for (const agent of this.agents) agent.turn(this.#handOuts);
      world.pass(5_000);
    }
    for (let round = 0; pool.state.flush.at !== null; round++) {
      must(17, round < PATIENCE, "the outbox never empties");
      world.pass(60_000);
    }
    for (const build of pool.disk.rows.builds.values()) must(17, isEnded(build.status), "a build is left");
    world.database.compare(pool.disk);
    this.#reload();
  }

  /** What is on disk is all there is: a fresh object answers the same. */
  #reload(): void {
    const { pool } = this.world;
    const agents = [...pool.state.agents.keys()].sort();
    pool.reload([]);
    must(
      16,
      JSON.stringify([...pool.state.agents.keys()].sort()) === JSON.stringify(agents),
      "agents were lost with the memory",
    );
    must(16, pool.state.builds.size === 0 && pool.state.dirty.size === 0, "a build came back from the disk");
  }
}
