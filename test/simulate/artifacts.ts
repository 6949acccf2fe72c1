import type { LeaseHolder, Result } from "../../src/queue/commands/commands.ts";
import type { Command, InputOf, OutputOf } from "../../src/queue/commands/step.ts";
import { Random } from "./random.ts";

/** Calls the pool without the network's faults. */
interface Caller {
  call<C extends Command>(command: C, input: InputOf<C>): Result<OutputOf<C>>;
}

/** Histories in which jobs keep artifacts. The others stay unchanged. */
const WITH_ARTIFACTS = [0, 3, 7];

/** The artifacts of agents. It draws its own random numbers, so that nothing else in a history depends on it. */
export class SimArtifacts {
  readonly #random: Random;
  readonly #isOn: boolean;
  #count = 0;

  constructor(seed: number, history: number) {
    this.#random = new Random(seed + 1, history);
    this.#isOn = WITH_ARTIFACTS.includes(history % 8);
  }

  /** Takes the agent's next action about artifacts under this lease, often none. Its answer may be lost. */
  work(simulator: Caller, lease: LeaseHolder): void {
    if (!this.#isOn || !this.#random.chance(0.5)) return;
    const artifact = { name: this.#random.pick(["app", "report"]), as: "files" as const, files: 1, day: "2100-01-31" };
    const bytes = this.#random.pick([1, 1, 2]);
    const opened = simulator.call("openArtifact", { ...lease, ...artifact, id: `artifact${++this.#count}`, bytes });
    if (!opened.ok || this.#random.chance(0.3)) return;
    const request = { ...lease, artifactId: opened.value.id };
    if (this.#random.chance(0.1)) simulator.call("discardArtifact", request);
    simulator.call("keepArtifact", request);
    if (this.#random.chance(0.1)) simulator.call("keepArtifact", request);
  }
}
