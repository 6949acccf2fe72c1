import type { JobGraph } from "../../src/pipeline/graph/graph.ts";
import { type Blueprint, graphOf, newBlueprint } from "./graphs.ts";
import type { Random } from "./random.ts";

/** The content of the file in a build's commit: steps, jobs, or mistakes. */
export type FileKind = "steps" | "jobs" | "mistakes";

interface Surroundings {
  readonly random: Random;
  /** Whether files have jobs in this history. */
  readonly hasJobs: boolean;
  newId(prefix: string): string;
}

export const isJobId = (id: string): boolean => id.startsWith("j");

/** The pipeline files of a history, by build. Each commit has one, which reads the same for every agent. */
export class SimFiles {
  readonly #kinds = new Map<string, FileKind>();
  readonly #blueprints = new Map<string, Blueprint>();
  readonly #copied = new Map<string, string>();
  readonly #surroundings: Surroundings;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  kindOf(buildId: string): FileKind {
    const { random, hasJobs } = this.#surroundings;
    if (!hasJobs || isJobId(buildId)) return "steps";
    const kind =
      this.#kinds.get(buildId) ?? random.pick(["steps", "jobs", "jobs", "jobs", "jobs", "mistakes"] as const);
    this.#kinds.set(buildId, kind);
    return kind;
  }

  /** Reports whether the file has its jobs in the order of their needs, as the Worker provides them. */
  isSorted(buildId: string): boolean {
    const known = new Set<string>();
    return this.#blueprintOf(buildId).jobs.every(({ definition, needs }) => {
      known.add(definition);
      return needs.every((need) => known.has(need.definition));
    });
  }

  /** The file equals that of another build, which this one retries. */
  copy(fromBuildId: string, toBuildId: string): void {
    this.#blueprints.set(toBuildId, this.#blueprintOf(fromBuildId));
    this.#copied.set(toBuildId, this.#copied.get(fromBuildId) ?? fromBuildId);
  }

  textOf(buildId: string): string {
    return `file of ${this.#copied.get(buildId) ?? buildId}`;
  }

  /** Reads the file once. Each reading gives the jobs other ids. */
  read(buildId: string, commitSha: string | null, text = this.textOf(buildId)): JobGraph {
    const found = { commitSha, hash: `hash of ${text}` };
    return graphOf(this.#blueprintOf(buildId), found, () => this.#surroundings.newId("j"));
  }

  #blueprintOf(buildId: string): Blueprint {
    const { random } = this.#surroundings;
    const blueprint =
      this.#blueprints.get(buildId) ?? newBlueprint(random, random.chance(0.7) ? ".millrace.yaml" : null);
    this.#blueprints.set(buildId, blueprint);
    return blueprint;
  }
}
