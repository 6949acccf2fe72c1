import type { StoredArtifact } from "../../protocol/artifact.ts";
import type { OpenArtifact, RemoveArtifact } from "../../queue/commands/artifacts.ts";
import type { Result } from "../../queue/commands/commands.ts";
import type { ArtifactFacts } from "../../queue/state/facts.ts";
import { isSealed, noRoom, savingPart } from "../../queue/state/stored-bytes.ts";
import type { PoolEngine } from "./engine.ts";

/** Which artifact is deleted, with its size and its last day where the caller knows them. */
export type DeletedArtifact = RemoveArtifact & Partial<Pick<StoredArtifact, "bytes" | "day">>;

/** An entry of the cache that a job begins to save, of so many parts. */
export interface BegunSaving {
  cacheId: string;
  bytes: number;
  parts: number;
}

/** Keeps what an organization stores below its limit: all of an artifact or a cache counts when it is begun. */
export class PoolRoom {
  readonly #engine: PoolEngine;

  constructor(engine: PoolEngine) {
    this.#engine = engine;
  }

  /** Begins an artifact, where there is room for it; one that was begun before has its room. */
  openArtifact(request: OpenArtifact): Result<ArtifactFacts> {
    const { state } = this.#engine;
    const begun = new Set(state.jobs.get(request.jobId)?.artifacts?.map(({ id }) => id));
    const isNew = (answer: Result<ArtifactFacts>) => answer.ok && !begun.has(answer.value.id);
    const refusal = isNew(this.#engine.preview("openArtifact", request)) ? this.#refusal(request.bytes) : null;
    if (refusal) return refusal;
    const answer = this.#engine.step("openArtifact", request);
    if (answer.ok && isNew(answer)) {
      const { day: until, bytes } = answer.value;
      this.#stored.add({ kind: "artifact", until, bytes }, Date.now());
    }
    return answer;
  }

  /** A person deleted an artifact of an ended job. */
  removeArtifact({ bytes, day, ...request }: DeletedArtifact): Result<null> {
    const { state, storage } = this.#engine;
    const { jobId, artifactId } = request;
    const endedAt = storage.endedJob(jobId)?.job.end?.finishedAt;
    const answer = this.#engine.step("removeArtifact", request);
    // The pool remembers a job for a day.
    const isForgotten = endedAt === undefined && !state.jobs.has(jobId);
    const isOver = answer.ok ? isSealed(endedAt ?? Date.now(), Date.now()) : isForgotten;
    if (isOver && bytes !== undefined && day !== undefined) this.#stored.free(artifactId, day, bytes);
    return answer;
  }

  /** Counts what is begun to be saved to the cache, where there is room for it. */
  beginSaving(begun: BegunSaving): Result<null> {
    const refusal = this.#refusal(begun.bytes);
    if (refusal) return refusal;
    this.#stored.add(savingPart(begun), Date.now());
    return { ok: true, value: null };
  }

  get #stored() {
    return this.#engine.storage.stored;
  }

  #refusal(bytes: number): Result<never> | null {
    const used = this.#stored.used(Date.now());
    return noRoom({ used, most: this.#engine.limits.storedBytes }, bytes);
  }
}
