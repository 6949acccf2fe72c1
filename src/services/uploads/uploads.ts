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

const UNKNOWN = "The grant is not one that was given for this.";

/** The answer to an agent whose grant is genuine, but for something else. */
const OTHER: Record<OfAgents, string> = {
  upload: "The grant is for another artifact, or for another agent.",
  download: "The grant is for another agent.",
  "cache-read": UNKNOWN,
  "cache-write": "The grant is for another entry, or for another agent.",
};

/**
 * What a grant allows the agent that calls, if it is for just this.
 * @throws Refusal forbidden, the same for a forged and an altered one
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
  if (context.now.getTime() >= facts.until)
    throw new Refusal("forbidden", "The grant has expired: ask for another one.");
  return grantFor(granted, facts, { orgId, tokenHash, ...expected });
};

/** @throws Refusal forbidden where the grant names anything else than this */
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

/** What one kind of upload has of its own, besides what is made of it. */
interface UploadKind<K extends Granted> {
  granted: K;
  /** Where its bytes are in the archive. */
  keyOf(facts: GrantFacts[K]): string;
  /** What is said where the archive refuses a part, and where it does not join the parts. */
  partRefused(isOnly: boolean): Refusal;
  joinRefused: string;
  /** This call, and no other, made one object of the parts. */
  onJoined?(context: Context, facts: GrantFacts[K]): void;
}

/** One part; its headers are null where they say nothing. */
interface SentPart {
  jobId: string;
  id: string;
  number: number;
  bytes: number | null;
  sha256: string | null;
  body: ReadableStream<Uint8Array> | null;
}

/** What the end says: the answers for the parts, and the SHA-256 of all bytes; null where nobody knows it. */
interface Sent {
  etags: string[];
  md5?: string | undefined;
  sha256: string | null;
}

/** What R2 says where the fault is in what was sent: parts that do not fit, an upload that is over, a wrong sum. */
const R2_REFUSALS = /\((?:10011|10024|10025|10037|10048)\)/;

/** @throws Refusal the given one where the archive refuses what was sent, and unavailable where it is away */
const rethrow = (error: unknown, refusal: Refusal): Promise<never> => {
  if (error instanceof Error && R2_REFUSALS.test(error.message)) throw refusal;
  return reaching(Promise.reject(error));
};

/** A part that may be stored, of so many bytes in all. @throws Refusal invalid, malformed-body */
const checkedPart = ({ number, bytes, sha256, body }: SentPart, allBytes: number) => {
  const size = partSize(allBytes, number);
  if (size === null) throw invalid("/part", "must be the number of a part, from 1");
  if (bytes !== size || body === null)
    throw new Refusal("malformed-body", `This part has exactly ${size} bytes: send them with Content-Length.`);
  if (sha256 === null || !/^[0-9a-f]{64}$/.test(sha256))
    throw invalid(CONTENT_SHA256_HEADER, "this header must be the SHA-256 of the part, in 64 hex digits");
  return { sha256, body, number };
};

/** Begins an upload of so many bytes. @returns its id; undefined where they are one part at most */
export const beginUpload = async ({ archive }: Context, key: string, bytes: number): Promise<string | undefined> =>
  countParts(bytes) > 1 ? reaching(beginParts(archive, key)) : undefined;

/**
 * How agents send bytes of one kind: an opening grants it, parts come under the grant, and an end says that all were
 * sent. What is opened, and what is made of it, says whoever has the kind.
 */
export class Uploads<K extends Granted> {
  readonly #kind: UploadKind<K>;

  constructor(kind: UploadKind<K>) {
    this.#kind = kind;
  }

  /** What an opening answers, besides the id of what was opened. */
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

  /** Stores one part. Asks no pool: whether the lease stands is asked at the end. */
  async store(context: Context, part: SentPart): Promise<{ etag: string }> {
    const { partRefused, keyOf } = this.#kind;
    const facts = await this.#granted(context, part);
    const { uploadId, bytes } = facts;
    const storing = putPart(context.archive, { key: keyOf(facts), uploadId }, checkedPart(part, bytes));
    const etag = await storing.catch((error: unknown) => rethrow(error, partRefused(!uploadId)));
    if (etag === null) throw new Refusal("conflict", "Other bytes were sent under this grant before.");
    return { etag };
  }

  /** Who says that all was sent, and what was granted. @throws Refusal forbidden where it was under another lease */
  async ending(context: Context, place: { jobId: string; id: string }) {
    const holder = await readHolder(context, place.jobId);
    const facts = await this.#granted(context, place);
    if (facts.fence !== holder.fence) throw new Refusal("forbidden", "The grant is of another lease.");
    return { holder, facts };
  }

  /**
   * Whether the archive has, as one object, the bytes that the agent means. It has compared the SHA-256 of an only
   * part; of several the MD5s are compared here. @throws Refusal conflict where it has none
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

  /** Makes one object of several parts, unless that is done. @throws Refusal invalid; conflict where they do not fit */
  async #join(context: Context, facts: GrantFacts[K], uploadId: string, { etags, md5 }: Sent): Promise<void> {
    const parts = countParts(facts.bytes);
    if (etags.length !== parts) throw invalid("/etags", `must have ${parts} entries`);
    if (md5 === undefined) throw invalid("/md5", "is missing: there are several parts");
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
