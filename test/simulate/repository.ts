import type { RequestedBuild } from "../../src/queue/commands/commands.ts";
import type { Fault } from "./faults.ts";
import type { Pipeline } from "./pipeline.ts";
import type { Random } from "./random.ts";
import { REFS, REFS_WITH_STRANGERS } from "./strangers.ts";

/** A ref that was set to a commit, as it really happened. */
export interface Push {
  ref: string;
  /** Increases each time that the ref is created again. */
  life: number;
  index: number;
  sha: string;
  before: string | null;
}

/** The request to the machine, together with the real events for the checks. */
export interface SimArriving extends RequestedBuild {
  push: Push;
  /** All pushes of the ref, including those that did not arrive. */
  history: readonly Push[];
}

/** A delivery in transit. A host may omit the previous head; null for `push` means that the ref was deleted. */
export interface OnWay {
  id: string;
  ref: string;
  life: number;
  push: Push | null;
  before: string | null;
  pipelines: Pipeline[];
}

interface Ref {
  life: number;
  head: Push | null;
  history: Push[];
}

interface Surroundings {
  readonly random: Random;
  readonly pipelines: Pipeline[];
  readonly hasForks: boolean;
  newId(prefix: string): string;
  injectFault(fault: Fault, probability: number, about?: string): boolean;
}

const MAX_PUSHES = 7;

/** A repository at its git host: its current refs, and the deliveries about them. */
export class SimRepository {
  readonly refs = new Map<string, Ref>();
  readonly onWay: OnWay[] = [];
  /** Lives of refs with a delivery that did not arrive, or arrived after the ref was created again. */
  readonly torn = new Set<string>();
  readonly #simulator: Surroundings;
  #pushes = 0;

  constructor(simulator: Surroundings) {
    this.#simulator = simulator;
  }

  /** Somebody pushes to a ref, sometimes back to an earlier commit of it, or deletes it. */
  move(): void {
    const { random } = this.#simulator;
    const name = random.pick(this.#simulator.hasForks ? REFS_WITH_STRANGERS : REFS);
    const ref = this.refs.get(name) ?? { life: 1, head: null, history: [] };
    this.refs.set(name, ref);
    if (ref.head && random.chance(0.08)) this.#delete(name, ref);
    else if (this.#pushes < MAX_PUSHES) this.#push(name, ref);
  }

  isTorn({ ref, life }: { ref: string; life: number }): boolean {
    return this.torn.has(`${ref} ${life}`);
  }

  tear({ ref, life }: { ref: string; life: number }): void {
    this.torn.add(`${ref} ${life}`);
  }

  /** Takes a delivery that arrives now, mostly in order. */
  next(): OnWay | undefined {
    const { random } = this.#simulator;
    const index = random.chance(0.6) ? 0 : random.below(this.onWay.length);
    return this.onWay.splice(index, 1)[0];
  }

  #delete(name: string, ref: Ref): void {
    const { life } = ref;
    ref.head = null;
    ref.life++;
    this.#send({ ref: name, life, push: null, before: null, pipelines: this.#simulator.pipelines });
  }

  #push(name: string, ref: Ref): void {
    const { random, pipelines } = this.#simulator;
    this.#pushes++;
    const earlier = ref.history.filter(({ life, sha }) => life === ref.life && sha !== ref.head?.sha);
    const isBack = earlier.length > 0 && random.chance(0.3);
    const sha = isBack ? random.pick(earlier).sha : this.#simulator.newId("c");
    const push: Push = {
      ref: name,
      life: ref.life,
      index: ref.history.length,
      sha,
      before: ref.head?.sha ?? null,
    };
    ref.head = push;
    ref.history.push(push);
    const wanted = random.chance(0.3) ? pipelines : [random.pick(pipelines)];
    const told = { ref: name, life: ref.life, push, pipelines: wanted };
    this.#send({ ...told, before: push.before });
    if (random.chance(0.4)) this.#send({ ...told, before: random.chance(0.4) ? null : push.before });
  }

  /** Sends a delivery. It may get lost, come twice, or come again as another one. */
  #send(told: Omit<OnWay, "id">): void {
    const delivery = { id: this.#simulator.newId("d"), ...told };
    if (this.#simulator.injectFault("delivery lost", 0.08, delivery.id)) this.tear(told);
    else this.onWay.push(delivery);
    if (this.#simulator.injectFault("delivery repeated", 0.1, delivery.id)) this.onWay.push(delivery);
    if (this.#simulator.injectFault("delivery repeated", 0.07, `${delivery.id} as another`))
      this.onWay.push({ ...delivery, id: this.#simulator.newId("d") });
  }
}
