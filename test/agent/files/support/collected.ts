import {
  type CollectedFiles,
  collectFiles,
  type FilesToCollect,
  receiveFiles,
} from "../../../../src/agent/files/file-helper.ts";
import type { ArrivingFile } from "../../../../src/agent/files/receive-files.ts";
import type { StepUser } from "../../../../src/agent/process/step-user.ts";

const signal = new AbortController().signal;

export interface Collected {
  /** Each file's bytes by its name. */
  files: Record<string, string>;
  modes: Record<string, string>;
  leftOut: string[];
}

const read = async ({ files, leftOut, bytes }: CollectedFiles): Promise<Collected> => {
  const pieces: Buffer[] = [];
  for await (const piece of bytes()) pieces.push(Buffer.from(piece));
  let rest = Buffer.concat(pieces);
  const read: [string, string][] = [];
  for (const { path, size } of files) {
    read.push([path, rest.subarray(0, size).toString("latin1")]);
    rest = rest.subarray(size);
  }
  return {
    files: Object.fromEntries(read),
    modes: Object.fromEntries(files.map(({ path, mode }) => [path, mode])),
    leftOut,
  };
};

/** Finds and reads files with the real helper. */
export const collect = (
  root: string,
  paths: string[],
  { user = null, ...wanted }: Partial<FilesToCollect> & { user?: StepUser | null } = {},
): Promise<Collected> => collectFiles({ root, user, signal }, { paths, asTar: null, atMost: 5000, ...wanted }, read);

/** Finds files, then calls a function before it reads them. */
export const collectAfter = (
  root: string,
  paths: string[],
  between: () => void,
  wanted: Partial<FilesToCollect> = {},
): Promise<Collected> =>
  collectFiles({ root, user: null, signal }, { paths, asTar: null, atMost: 5000, ...wanted }, (collected) => {
    between();
    return read(collected);
  });

/** Writes files with the real helper. */
export const receive = (
  root: string,
  folder: string[],
  files: (Partial<ArrivingFile> & { path: string; content: string | Buffer })[],
  { user = null, replaces = false }: { user?: StepUser | null; replaces?: boolean } = {},
): Promise<void> =>
  receiveFiles({ root, user, signal }, { folder, replaces }, async (writer) => {
    for (const { content, ...file } of files) {
      const bytes = Buffer.from(content);
      await writer.begin({ mode: "644", isUnpacked: false, size: bytes.length, ...file });
      await writer.write(bytes);
    }
  });
