import type { StoredArtifact } from "../../protocol/artifact.ts";
import type { OpenArtifact, RemoveArtifact } from "../../queue/commands/artifacts.ts";
import type { Result } from "../../queue/commands/commands.ts";
import type { ArtifactFacts } from "../../queue/state/facts.ts";
import { isSealed, noRoom, savingPart } from "../../queue/state/stored-bytes.ts";
import type { PoolEngine } from "./engine.ts";

/** The deleted artifact, with its size and its last day if the caller knows these. */
export type DeletedArtifact = RemoveArtifact & Partial<Pick<StoredArtifact, "bytes" | "day">>;

/** A cache entry that a job begins to save, with its number of parts. */
export interface BegunSaving {
  cacheId: string;
  bytes: number;
  parts: number;
}

/**
 * Keeps an organization's stored bytes below its limit. The full size of an artifact or a cache entry counts from its
 * beginning.
 */
export class PoolRoom {
  readonly #engine: PoolEngine;

  constructor(engine: PoolEngine) {
    this.#engine = engine;
  }

  /** Begins an artifact if there is room for it. An artifact that its job began earlier already has its room. */
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

  /** Removes an ended job's artifact that a person deleted. */
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

  /** Counts a cache entry that a job begins to save, if there is room for it. */
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
