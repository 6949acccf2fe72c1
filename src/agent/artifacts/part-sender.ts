import { createHash } from "node:crypto";
import type { OpenedArtifact } from "../../protocol/artifact.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { ArtifactRefused } from "./lease-calls.ts";

/** Parts that are in memory at a time: while one is sent, the next one is filled or sent. */
const PARTS_IN_MEMORY = 2;
/** Part of a grant's time after which another one is asked for. */
const GRANT_USED = 0.75;
const GRANT_REFUSALS = 3;
const MINUTE_MS = 60_000;

/** How bytes are sent in parts: an opening names them, and the same again with the grant of before renews it. */
export interface UploadCalls<Opening> {
  open(opening: Opening, before?: string): Promise<OpenedArtifact>;
  part(id: string, number: number, grant: string, bytes: Buffer, sha256: string): Promise<{ etag: string }>;
}

/** The right to send the parts of one artifact. It is asked for again before it ends, and when it is refused. */
export class Grant<Opening> {
  readonly #calls: UploadCalls<Opening>;
  readonly #opening: Opening;
  #opened: OpenedArtifact;
  #renewAt = 0;
  #renewal: Promise<void> | null = null;

  private constructor(calls: UploadCalls<Opening>, opening: Opening, opened: OpenedArtifact) {
    this.#calls = calls;
    this.#opening = opening;
    this.#opened = opened;
    this.#noteTime();
  }

  static async of<Opening>(calls: UploadCalls<Opening>, opening: Opening): Promise<Grant<Opening>> {
    return new Grant(calls, opening, await calls.open(opening));
  }

  get artifact(): OpenedArtifact {
    return this.#opened;
  }

  /** Calls with a grant that is good, as far as this machine's clock can tell. */
  async use<T>(call: (grant: string) => Promise<T>): Promise<T> {
    for (let refusals = 0; ; refusals++) {
      if (performance.now() >= this.#renewAt) await this.#renew();
      const { grant } = this.#opened;
      try {
        return await call(grant);
      } catch (error) {
        if (!(error instanceof ArtifactRefused) || error.status !== 403 || refusals === GRANT_REFUSALS) throw error;
        if (grant === this.#opened.grant) await this.#renew();
      }
    }
  }

  #renew(): Promise<void> {
    this.#renewal ??= this.#calls
      .open(this.#opening, this.#opened.grant)
      .then((opened) => {
        if (opened.artifactId !== this.#opened.artifactId)
          throw new ArtifactRefused(null, "the service does not know the begun artifact any more");
        this.#opened = opened;
        this.#noteTime();
      })
      .finally(() => {
        this.#renewal = null;
      });
    return this.#renewal;
  }

  /** The clocks of the service and of this machine may differ: a time that makes no sense counts as a short one. */
  #noteTime(): void {
    const left = Date.parse(this.#opened.expiresAt) - Date.now();
    const lifetime = left > MINUTE_MS && left <= 60 * MINUTE_MS ? left : 5 * MINUTE_MS;
    this.#renewAt = performance.now() + lifetime * GRANT_USED;
  }
}

/** Cuts bytes into parts and sends them, two at a time. */
export class PartSender<Opening> {
  readonly #grant: Grant<Opening>;
  readonly #calls: UploadCalls<Opening>;
  readonly #bytes: number;
  readonly #onSent: (bytes: number) => void;
  readonly #free: Buffer[] = [];
  readonly #sending = new Set<Promise<void>>();
  readonly #etags: string[] = [];
  readonly #md5s: Buffer[] = [];
  #made = 0;
  #part: Buffer | null = null;
  #filled = 0;
  #cut = 0;
  #error: unknown = null;

  /** `bytes`: those of all parts. */
  constructor(grant: Grant<Opening>, calls: UploadCalls<Opening>, bytes: number, onSent: (bytes: number) => void) {
    const { partBytes, parts } = grant.artifact;
    const isSound = bytes === 0 || (partBytes > 0 && Math.ceil(bytes / partBytes) === parts);
    if (!isSound || partBytes > LIMITS.artifactPartBytes)
      throw new ArtifactRefused(null, "the service asks for parts that this agent does not make");
    this.#grant = grant;
    this.#calls = calls;
    this.#bytes = bytes;
    this.#onSent = onSent;
  }

  async push(bytes: Buffer): Promise<void> {
    for (let rest = bytes; rest.length > 0; ) {
      this.#part ??= await this.#room();
      const count = rest.copy(this.#part, this.#filled);
      this.#filled += count;
      rest = rest.subarray(count);
      if (this.#filled === this.#part.length || this.#cut + this.#filled === this.#bytes) this.#send();
    }
  }

  /** @returns what was answered for each part, and the MD5 of several. */
  async end(): Promise<{ etags: string[]; md5?: string }> {
    while (this.#sending.size > 0) await this.#oneSent();
    this.#throwIfFailed();
    if (this.#etags.length < 2) return { etags: this.#etags };
    return { etags: this.#etags, md5: createHash("md5").update(Buffer.concat(this.#md5s)).digest("hex") };
  }

  /** Waits for what is under way, whatever becomes of it. */
  async settle(): Promise<void> {
    await Promise.all(this.#sending);
  }

  /** A buffer for the next part, once one is free. */
  async #room(): Promise<Buffer> {
    while (this.#free.length === 0 && this.#made === PARTS_IN_MEMORY) await this.#oneSent();
    this.#throwIfFailed();
    const size = Math.min(this.#grant.artifact.partBytes, this.#bytes - this.#cut);
    const free = this.#free.pop();
    if (free) return free.subarray(0, size);
    this.#made++;
    return Buffer.allocUnsafeSlow(size);
  }

  async #oneSent(): Promise<void> {
    await Promise.race(this.#sending);
    this.#throwIfFailed();
  }

  #throwIfFailed(): void {
    if (this.#error !== null) throw this.#error;
  }

  #send(): void {
    const part = this.#part!.subarray(0, this.#filled);
    const index = this.#md5s.length;
    this.#part = null;
    this.#filled = 0;
    this.#cut += part.length;
    this.#md5s.push(createHash("md5").update(part).digest());
    const sending = this.#sendPart(index, part)
      .catch((error: unknown) => {
        this.#error ??= error;
      })
      .finally(() => {
        this.#sending.delete(sending);
        this.#free.push(part);
      });
    this.#sending.add(sending);
  }

  async #sendPart(index: number, part: Buffer): Promise<void> {
    const { artifactId } = this.#grant.artifact;
    const sha256 = createHash("sha256").update(part).digest("hex");
    const { etag } = await this.#grant.use((grant) => this.#calls.part(artifactId, index + 1, grant, part, sha256));
    this.#etags[index] = etag;
    this.#onSent(part.length);
  }
}
