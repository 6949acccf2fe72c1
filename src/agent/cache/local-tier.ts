import { createHash } from "node:crypto";
import {
  createReadStream,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { CacheCodec } from "../../protocol/cache.ts";

/** Describes a copy. */
const Kept = z.object({
  key: z.string(),
  bytes: z.int(),
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  codec: CacheCodec,
  madeAt: z.string(),
});
type Kept = z.infer<typeof Kept>;
export type KeptCache = Kept & { file: string };

const SCOPE = /^[0-9a-f]{64}$/;
const TEMPORARY = ".part";

const hashKey = (key: string): string => createHash("sha256").update(key).digest("hex");

/** Returns the SHA-256 of an agent file. */
export const sumOfFile = async (file: string): Promise<string> => {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(file)) hash.update(piece);
  return hash.digest("hex");
};

/**
 * Copies of entries on this machine: `FOLDER/SCOPE/HASH`, each with a file `FOLDER/SCOPE/HASH.json`. Only the agent
 * reads and writes them. When the copies exceed the byte limit, the agent deletes the least recently used ones.
 */
export class LocalTier {
  readonly #folder: string;
  readonly #mostBytes: number;

  constructor(folder: string, mostBytes: number) {
    this.#folder = folder;
    this.#mostBytes = mostBytes;
    this.#make();
    for (const name of readdirSync(folder)) if (name.endsWith(TEMPORARY)) rmSync(join(folder, name), { force: true });
  }

  /** Creates the folder each time, because somebody may empty the disk while the agent runs. */
  #make(): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  /** Returns a path for an unfinished archive. */
  temporary(): string {
    this.#make();
    return join(this.#folder, `${process.pid}-${performance.now()}${TEMPORARY}`);
  }

  find(scope: string, key: string): KeptCache | null {
    return SCOPE.test(scope) ? this.#read(join(this.#folder, scope, hashKey(key))) : null;
  }

  /** Returns the newest copy whose key has this prefix. */
  newest(scope: string, beginning: string): KeptCache | null {
    if (!SCOPE.test(scope)) return null;
    const copies = this.#namesIn(scope)
      .map((name) => this.#read(join(this.#folder, scope, name)))
      .filter((copy) => copy?.key.startsWith(beginning));
    return copies.sort((a, b) => (a!.madeAt < b!.madeAt ? 1 : -1))[0] ?? null;
  }

  /** Moves a file into the tier as an entry's copy. @returns its new path */
  keep(scope: string, copy: Kept, from: string): KeptCache {
    if (!SCOPE.test(scope)) throw new Error("the service sent no valid scope");
    if (copy.bytes > this.#mostBytes) return { ...copy, file: from };
    const folder = join(this.#folder, scope);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, hashKey(copy.key));
    renameSync(from, file);
    writeFileSync(`${file}.json`, JSON.stringify(copy), { mode: 0o600 });
    this.#makeRoom(file);
    return { ...copy, file };
  }

  /** Marks the copy as used now. */
  touch({ file }: KeptCache): void {
    const now = new Date();
    utimesSync(file, now, now);
  }

  forget({ file }: KeptCache): void {
    for (const one of [file, `${file}.json`]) rmSync(one, { force: true });
  }

  #namesIn(scope: string): string[] {
    try {
      return readdirSync(join(this.#folder, scope)).filter((name) => SCOPE.test(name));
    } catch {
      return [];
    }
  }

  #read(file: string): KeptCache | null {
    try {
      const copy = Kept.parse(JSON.parse(readFileSync(`${file}.json`, "utf8")));
      return statSync(file).size === copy.bytes ? { ...copy, file } : null;
    } catch {
      return null;
    }
  }

  #makeRoom(latest: string): void {
    const all = readdirSync(this.#folder)
      .filter((scope) => SCOPE.test(scope))
      .flatMap((scope) => this.#namesIn(scope).map((name) => join(this.#folder, scope, name)))
      .map((file) => ({ file, stat: statSync(file) }))
      .sort((a, b) => a.stat.mtimeMs - b.stat.mtimeMs);
    let bytes = all.reduce((sum, { stat }) => sum + stat.size, 0);
    for (const { file, stat } of all) {
      if (bytes <= this.#mostBytes || file === latest) continue;
      for (const one of [file, `${file}.json`]) rmSync(one, { force: true });
      bytes -= stat.size;
    }
  }
}
