import { createHash } from "node:crypto";
import { LIMITS } from "../../protocol/limits.ts";
import { MINUTE_MS } from "../../protocol/units.ts";
import { ArtifactRefused, type LeaseCalls, type Opened } from "./lease-calls.ts";

/** Maximum parts in memory. While the agent sends one part, it fills or sends the next one. */
const PARTS_IN_MEMORY = 2;
/** Fraction of a grant's lifetime after which the agent requests the next one. */
const GRANT_USED = 0.75;
const GRANT_REFUSALS = 3;

/** The service's answer for each part, and an MD5 for multiple parts. */
interface SentParts {
  etags: string[];
  md5?: string;
}

/** The right to send all bytes of one upload. The agent renews it before it expires, and after a rejection. */
export class Upload<Opening extends { bytes: number }, End> {
  readonly #calls: LeaseCalls<Opening, End>;
  readonly #opening: Opening;
  #upload: Opened;
  #renewAt = 0;
  #renewal: Promise<void> | null = null;

  private constructor(calls: LeaseCalls<Opening, End>, opening: Opening, opened: Opened) {
    this.#calls = calls;
    this.#opening = opening;
    this.#upload = opened;
    this.#noteTime();
  }

  static async begin<O extends { bytes: number }, E>(calls: LeaseCalls<O, E>, opening: O): Promise<Upload<O, E>> {
    return new Upload(calls, opening, await calls.open(opening));
  }

  /** Sends all bytes, then the result of `toEnd` for the parts' answers. */
  async send(
    pieces: AsyncIterable<Buffer>,
    toEnd: (parts: SentParts) => End,
    onSent: (bytes: number) => void = () => {},
  ): Promise<void> {
    const { id, ...opened } = this.#upload;
    const sendPart = async (number: number, part: Buffer): Promise<string> => {
      const sha256 = createHash("sha256").update(part).digest("hex");
      const { etag } = await this.#use((grant) => this.#calls.part(id, number, grant, part, sha256));
      onSent(part.length);
      return etag;
    };
    const parts = new PartSender(opened, this.#opening.bytes, sendPart);
    try {
      for await (const piece of pieces) await parts.push(piece);
      const end = toEnd(await parts.end());
      await this.#use((grant) => this.#calls.end(id, grant, end));
    } finally {
      await parts.settle();
    }
  }

  /** Calls with a valid grant, as far as this machine's clock can tell. */
  async #use<T>(call: (grant: string) => Promise<T>): Promise<T> {
    for (let refusals = 0; ; refusals++) {
      if (performance.now() >= this.#renewAt) await this.#renew();
      const { grant } = this.#upload;
      try {
        return await call(grant);
      } catch (error) {
        if (!(error instanceof ArtifactRefused) || error.status !== 403 || refusals === GRANT_REFUSALS) throw error;
        if (grant === this.#upload.grant) await this.#renew();
      }
    }
  }

  #renew(): Promise<void> {
    this.#renewal ??= this.#calls
      .open(this.#opening, this.#upload.grant)
      .then((opened) => {
        if (opened.id !== this.#upload.id) throw new ArtifactRefused(null, "the service no longer has the upload");
        this.#upload = opened;
        this.#noteTime();
      })
      .finally(() => {
        this.#renewal = null;
      });
    return this.#renewal;
  }

  /**
   * Plans the renewal. The clocks of the service and of this machine may differ, so an implausible lifetime counts as
   * short.
   */
  #noteTime(): void {
    const timeLeft = Date.parse(this.#upload.expiresAt) - Date.now();
    const lifetime = timeLeft > MINUTE_MS && timeLeft <= 60 * MINUTE_MS ? timeLeft : 5 * MINUTE_MS;
    this.#renewAt = performance.now() + lifetime * GRANT_USED;
  }
}

/** Cuts bytes into parts and sends them, two at a time. */
class PartSender {
  readonly #partBytes: number;
  readonly #bytes: number;
  readonly #sendPart: (number: number, part: Buffer) => Promise<string>;
  readonly #free: Buffer[] = [];
  readonly #sending = new Set<Promise<void>>();
  readonly #etags: string[] = [];
  readonly #md5s: Buffer[] = [];
  #buffers = 0;
  #part: Buffer | null = null;
  #partLength = 0;
  #cutBytes = 0;
  #error: unknown = null;

  /** `bytes` is the total of all parts. */
  constructor(
    { partBytes, parts }: Pick<Opened, "partBytes" | "parts">,
    bytes: number,
    sendPart: (number: number, part: Buffer) => Promise<string>,
  ) {
    const isSound = bytes === 0 || (partBytes > 0 && Math.ceil(bytes / partBytes) === parts);
    if (!isSound || partBytes > LIMITS.artifactPartBytes)
      throw new ArtifactRefused(null, "the service requires parts of a size that this agent does not support");
    this.#partBytes = partBytes;
    this.#bytes = bytes;
    this.#sendPart = sendPart;
  }

  async push(bytes: Buffer): Promise<void> {
    for (let rest = bytes; rest.length > 0; ) {
      this.#part ??= await this.#room();
      const count = rest.copy(this.#part, this.#partLength);
      this.#partLength += count;
      rest = rest.subarray(count);
      if (this.#partLength === this.#part.length || this.#cutBytes + this.#partLength === this.#bytes) this.#send();
    }
  }

  async end(): Promise<SentParts> {
    while (this.#sending.size > 0) await this.#oneSent();
    this.#throwIfFailed();
    if (this.#etags.length < 2) return { etags: this.#etags };
    return { etags: this.#etags, md5: createHash("md5").update(Buffer.concat(this.#md5s)).digest("hex") };
  }

  /** Waits for all active sends, including failed ones. */
  async settle(): Promise<void> {
    await Promise.all(this.#sending);
  }

  /** Returns a buffer for the next part, once one is free. */
  async #room(): Promise<Buffer> {
    while (this.#free.length === 0 && this.#buffers === PARTS_IN_MEMORY) await this.#oneSent();
    this.#throwIfFailed();
    const size = Math.min(this.#partBytes, this.#bytes - this.#cutBytes);
    const free = this.#free.pop();
    if (free) return free.subarray(0, size);
    this.#buffers++;
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
    const part = this.#part!.subarray(0, this.#partLength);
    const index = this.#md5s.length;
    this.#part = null;
    this.#partLength = 0;
    this.#cutBytes += part.length;
    this.#md5s.push(createHash("md5").update(part).digest());
    const sending = this.#sendPart(index + 1, part)
      .then((etag) => {
        this.#etags[index] = etag;
      })
      .catch((error: unknown) => {
        this.#error ??= error;
      })
      .finally(() => {
        this.#sending.delete(sending);
        this.#free.push(part);
      });
    this.#sending.add(sending);
  }
}
