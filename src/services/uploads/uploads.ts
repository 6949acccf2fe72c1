import { beginParts, findBytes, joinParts, putPart } from "../../archive/bytes.ts";
import { countParts, partSize } from "../../domain/artifact/parts.ts";
import { CONTENT_SHA256_HEADER } from "../../protocol/artifact.ts";
import { LIMITS, PERIODS } from "../../protocol/limits.ts";
import { MINUTE_MS } from "../../protocol/units.ts";
import type { Context } from "../core/context.ts";
import type { GrantFacts } from "../core/grants.ts";
import { reaching } from "../core/outage.ts";
import { invalid, Refusal } from "../core/refusal.ts";
import { readHolder } from "../jobs/jobs.ts";

type OfAgents = "upload" | "download" | "cache-read" | "cache-write";

const UNKNOWN = "The grant is not valid for this request.";

/** The answer to an agent whose genuine grant is for something else. */
const OTHER: Record<OfAgents, string> = {
  upload: "The grant is for another artifact or another agent.",
  download: "The grant is for another agent.",
  "cache-read": UNKNOWN,
  "cache-write": "The grant is for another entry or another agent.",
};

/**
 * Returns the facts of a grant, if the grant allows the calling agent exactly this use.
 * @throws Refusal forbidden, which is the same for a forged and an altered grant
 */
export const readGrant = async <K extends OfAgents>(
  context: Context,
  granted: K,
  grant: string | null,
  expected: { jobId?: string; id?: string } = {},
): Promise<GrantFacts[K]> => {
  const { kind, tokenHash, orgId } = context.caller;
  if (kind !== "agent") await context.admit();
  const facts = await context.keys.grants.read(granted, grant ?? "");
  if (!facts) throw new Refusal("forbidden", UNKNOWN);
  if (context.now.getTime() >= facts.until) throw new Refusal("forbidden", "The grant has expired: request a new one.");
  return grantFor(granted, facts, { orgId, tokenHash, ...expected });
};

/** Returns the grant's facts. @throws Refusal forbidden if the grant names another subject */
export const grantFor = <K extends OfAgents>(
  granted: K,
  facts: GrantFacts[K] | undefined,
  expected: object,
): GrantFacts[K] => {
  const isSame = Object.entries(expected).every(([name, value]) => facts?.[name as keyof GrantFacts[K]] === value);
  if (!facts || !isSame) throw new Refusal("forbidden", OTHER[granted]);
  return facts;
};

type Granted = "upload" | "cache-write";

/** The differences between the kinds of upload, except for the use of their bytes. */
interface UploadKind<K extends Granted> {
  granted: K;
  /** Returns the key of the upload's bytes in the archive. */
  keyOf(facts: GrantFacts[K]): string;
  /** The refusals to use if the archive rejects a part, and if it does not join the parts. */
  partRefused(isOnly: boolean): Refusal;
  joinRefused: string;
  /** Runs only in the one call that joined the parts into an object. */
  onJoined?(context: Context, facts: GrantFacts[K]): void;
}

/** One part of an upload. A value is null if its header is missing. */
interface SentPart {
  jobId: string;
  id: string;
  number: number;
  bytes: number | null;
  sha256: string | null;
  body: ReadableStream<Uint8Array> | null;
}

/**
 * The facts at the end of an upload: the ETags of the parts, and the SHA-256 of all bytes. The SHA-256 is null if
 * nobody knows it.
 */
interface Sent {
  etags: string[];
  md5?: string | undefined;
  sha256: string | null;
}

/** R2's error codes for faults in the sent data: parts that do not fit, an ended upload, or a wrong checksum. */
const R2_REFUSALS = /\((?:10011|10024|10025|10037|10048)\)/;

/**
 * Throws the refusal for an archive error.
 * @throws Refusal the given one if the archive rejects the sent data, otherwise unavailable
 */
const rethrow = (error: unknown, refusal: Refusal): Promise<never> => {
  if (error instanceof Error && R2_REFUSALS.test(error.message)) throw refusal;
  return reaching(Promise.reject(error));
};

/**
 * Checks that the archive may store a part. `allBytes` is the upload's size.
 * @throws Refusal invalid, malformed-body
 */
const checkedPart = ({ number, bytes, sha256, body }: SentPart, allBytes: number) => {
  const size = partSize(allBytes, number);
  if (size === null) throw invalid("/part", "must be the number of a part, from 1");
  if (bytes !== size || body === null)
    throw new Refusal("malformed-body", `This part must have exactly ${size} bytes: send them with Content-Length.`);
  if (sha256 === null || !/^[0-9a-f]{64}$/.test(sha256))
    throw invalid(CONTENT_SHA256_HEADER, "this header must be the SHA-256 of the part, in 64 hex digits");
  return { sha256, body, number };
};

/** Begins an upload of this size. @returns the upload's id; undefined if one part is enough */
export const beginUpload = async ({ archive }: Context, key: string, bytes: number): Promise<string | undefined> =>
  countParts(bytes) > 1 ? reaching(beginParts(archive, key)) : undefined;

/**
 * The protocol by which agents send one kind of bytes. An opening grants the upload, parts arrive under the grant, and
 * an end completes it. Each kind's own code decides which upload to open, and how to use its bytes.
 */
export class Uploads<K extends Granted> {
  readonly #kind: UploadKind<K>;

  constructor(kind: UploadKind<K>) {
    this.#kind = kind;
  }

  /** Returns the answer to an opening, without the new record's id. */
  async grant({ keys, now }: Context, begun: Omit<GrantFacts[K], "until">) {
    const until = now.getTime() + PERIODS.grantMinutes * MINUTE_MS;
    const facts = { ...begun, until } as GrantFacts[K];
    return {
      grant: await keys.grants.grant(this.#kind.granted, facts),
      expiresAt: new Date(until).toISOString(),
      partBytes: LIMITS.artifactPartBytes,
      parts: countParts(facts.bytes),
    };
  }

  /** Stores one part. Does not query the pool, because the end of the upload checks the lease. */
  async store(context: Context, part: SentPart): Promise<{ etag: string }> {
    const { partRefused, keyOf } = this.#kind;
    const facts = await this.#granted(context, part);
    const { uploadId, bytes } = facts;
    const storing = putPart(context.archive, { key: keyOf(facts), uploadId }, checkedPart(part, bytes));
    const etag = await storing.catch((error: unknown) => rethrow(error, partRefused(!uploadId)));
    if (etag === null) throw new Refusal("conflict", "Different bytes were already sent under this grant.");
    return { etag };
  }

  /** Returns the caller who ends the upload, and the granted facts. @throws Refusal forbidden for another lease */
  async ending(context: Context, place: { jobId: string; id: string }) {
    const holder = await readHolder(context, place.jobId);
    const facts = await this.#granted(context, place);
    if (facts.fence !== holder.fence) throw new Refusal("forbidden", "The grant is for another lease.");
    return { holder, facts };
  }

  /**
   * Reports whether the archive has the agent's bytes as one object. The archive has already compared the SHA-256 of a
   * single part. For multiple parts, this method compares the MD5s.
   * @throws Refusal conflict if the archive has no object
   */
  async isWhole(context: Context, facts: GrantFacts[K], sums: Sent): Promise<boolean> {
    const { uploadId, bytes } = facts;
    if (bytes === 0) return true;
    if (uploadId) await this.#join(context, facts, uploadId, sums);
    const object = await this.#find(context, facts);
    if (!object) throw new Refusal("conflict", "The bytes have not arrived.");
    const isSame = uploadId
      ? object.etag === `${sums.md5}-${countParts(bytes)}`
      : (sums.sha256 ?? object.sha256) === object.sha256;
    return object.size === bytes && isSame;
  }

  #granted(context: Context, { jobId, id }: { jobId: string; id: string }): Promise<GrantFacts[K]> {
    return readGrant(context, this.#kind.granted, context.headers.grant, { jobId, id });
  }

  #find({ archive }: Context, facts: GrantFacts[K]) {
    return reaching(findBytes(archive, this.#kind.keyOf(facts)));
  }

  /**
   * Joins the parts into one object, unless an earlier call joined them.
   * @throws Refusal invalid, or conflict if the parts do not fit
   */
  async #join(context: Context, facts: GrantFacts[K], uploadId: string, { etags, md5 }: Sent): Promise<void> {
    const parts = countParts(facts.bytes);
    if (etags.length !== parts) throw invalid("/etags", `must have ${parts} entries`);
    if (md5 === undefined) throw invalid("/md5", "is required: the upload has several parts");
    const { keyOf, joinRefused, onJoined } = this.#kind;
    try {
      await joinParts(context.archive, keyOf(facts), uploadId, etags);
    } catch (error) {
      if (await this.#find(context, facts)) return;
      await rethrow(error, new Refusal("conflict", joinRefused));
    }
    onJoined?.(context, facts);
  }
}
