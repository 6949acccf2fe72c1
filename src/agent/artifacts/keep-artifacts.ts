import { clashIn, pathProblem } from "../../domain/artifact/file-list.ts";
import type { PlanArtifact } from "../../pipeline/parse/plan.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { BuildFailure, Cancel } from "../build/failure.ts";
import { type CollectedFiles, collectFiles, type FilePlace, FileProblem } from "../files/file-helper.ts";
import { filesInWords, shownPath, sizeInWords } from "../files/file-words.ts";
import type { JobLog } from "../log/job-log.ts";
import type { ArtifactStore } from "./artifact-store.ts";
import { ArtifactRefused } from "./lease-calls.ts";

export type ArtifactToKeep = Omit<PlanArtifact, "when">;

/**
 * Converts an artifact's error to a failure of the job, because an artifact that cannot be kept or fetched fails its
 * job. Returns other errors unchanged.
 */
export const toArtifactFailure = (error: unknown, what: string): unknown =>
  error instanceof FileProblem || error instanceof ArtifactRefused
    ? new BuildFailure("artifact-failed", `${what}: ${error.message}`)
    : error;

/** Keeps the artifacts of one job. */
export class ArtifactKeeper {
  readonly #place: FilePlace;
  readonly #store: ArtifactStore;
  readonly #log: JobLog;
  readonly #names = new Set<string>();

  constructor(place: FilePlace, store: ArtifactStore, log: JobLog) {
    this.#place = place;
    this.#store = store;
    this.#log = log;
  }

  /** Keeps one artifact. @throws BuildFailure artifact-failed; Cancel when the build must stop */
  async keep(artifact: ArtifactToKeep): Promise<void> {
    const { name, paths, as } = artifact;
    const asTar = as === "tar" ? `${name}.tar` : null;
    try {
      this.#takeName(name);
      const request = { paths, asTar, atMost: LIMITS.artifactFiles };
      await collectFiles(this.#place, request, (collected) => this.#keepFound(artifact, collected));
    } catch (error) {
      if (error instanceof Cancel) throw error;
      throw toArtifactFailure(error, `Cannot store artifact ${name}`);
    }
  }

  /**
   * Keeps the artifacts that the file declares for this end of the steps.
   * @throws BuildFailure for the first artifact that it cannot keep
   */
  async keepAll(artifacts: readonly PlanArtifact[], end: "success" | "failure"): Promise<void> {
    const due = artifacts.filter(({ when }) => when === "always" || when === end);
    let first: BuildFailure | null = null;
    if (due.length > 0) this.#log.begin("Artifacts");
    for (const artifact of due)
      await this.keep(artifact).catch((error: unknown) => {
        if (!(error instanceof BuildFailure)) throw error;
        if (first !== null) this.#log.say(error.message);
        first ??= error;
      });
    if (first !== null) throw first;
  }

  /** Reserves a name. Rejects names that some file systems treat as equal, because they would be confused. */
  #takeName(name: string): void {
    const folded = name.normalize("NFC").toLowerCase();
    if (this.#names.has(folded)) throw new FileProblem("this job already has an artifact with this name");
    if (this.#names.size === LIMITS.artifacts) throw new FileProblem(`a job has at most ${LIMITS.artifacts} artifacts`);
    this.#names.add(folded);
  }

  async #keepFound({ name, as, keepDays, ifNone, paths }: ArtifactToKeep, collected: CollectedFiles): Promise<void> {
    const { files, leftOut } = collected;
    for (const line of leftOut) this.#log.say(`artifact ${name}: left out: ${line}`);
    if (files.length === 0) {
      const none = `no file in the checkout matches ${paths.join(", ")}`;
      if (ifNone === "fail") throw new FileProblem(none);
      if (ifNone === "warn") this.#log.say(`Warning: artifact ${name}: ${none}`);
      return;
    }
    this.#check(files.map(({ path }) => path));
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    if (bytes > LIMITS.artifactBytes)
      throw new FileProblem(`${sizeInWords(bytes)} is more than the limit of ${sizeInWords(LIMITS.artifactBytes)}`);
    await this.#store.keep({ name, as, keepDays }, collected);
    this.#log.say(`artifact ${name}: ${filesInWords(files.length)}, ${sizeInWords(bytes)}`);
  }

  /** Checks the helper's paths, because a process of the helper's user may have changed the helper. */
  #check(paths: string[]): void {
    const bad = paths.find((path) => pathProblem(path) !== null);
    if (bad !== undefined) throw new FileProblem(`${shownPath(bad).slice(0, 300)} ${pathProblem(bad)}`);
    const clash = clashIn(paths);
    if (clash !== null) {
      const [one, other] = [clash.other, clash.index].map((index) => shownPath(paths[index] ?? "").slice(0, 300));
      throw new FileProblem(`${one} and ${other} are the same name on some file systems`);
    }
    const secret = paths.find((path) => this.#log.mask(path) !== path);
    if (secret !== undefined) throw new FileProblem("a file name contains a secret");
  }
}

/**
 * Runs a job's steps, and keeps the artifacts that it declares. If both fail, reports the job's own failure.
 * @throws the errors of `run`; BuildFailure artifact-failed after successful steps
 */
export const keepAround = async <R extends { succeeded: boolean }>(
  artifacts: readonly PlanArtifact[],
  keeper: ArtifactKeeper,
  log: JobLog,
  run: () => Promise<R>,
): Promise<R> => {
  const keepAfterFailure = () =>
    keeper.keepAll(artifacts, "failure").catch((error: unknown) => {
      const isTooLate = error instanceof Cancel && error.reason === "timeout";
      if (!(error instanceof BuildFailure) && !isTooLate) throw error;
      log.say(error.message);
    });
  const result = await run().catch(async (error: unknown) => {
    if (error instanceof BuildFailure) await keepAfterFailure();
    throw error;
  });
  if (result.succeeded) await keeper.keepAll(artifacts, "success");
  else await keepAfterFailure();
  return result;
};
