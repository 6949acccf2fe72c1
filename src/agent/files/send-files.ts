import { closeSync, fstatSync, readSync } from "node:fs";
import type { AnchoredFolder } from "./anchored-folder.ts";
import { CannotKeep, type FoundEntry, type Source } from "./find-files.ts";
import { PIECE_BYTES } from "./frames.ts";
import { shownPath } from "./kept-names.ts";
import { paddingOf, TAR_END, tarHeader } from "./tar-format.ts";

/**
 * Gives the bytes of what was found, in its order, to `send`. `isLenient`: where a file is not as it was found, zeros
 * are sent in place of what is left of it. @throws CannotKeep when a file is not as it was found
 */
export const sendFiles = (
  root: AnchoredFolder,
  entries: readonly FoundEntry[],
  send: (bytes: Buffer) => void,
  isLenient = false,
): void => {
  const piece = Buffer.alloc(PIECE_BYTES);
  const sendSource = (source: Source): void => {
    let done = 0;
    try {
      for (const bytes of bytesOf(root, source, piece)) {
        send(bytes);
        done += bytes.length;
      }
    } catch (error) {
      if (!isLenient || !(error instanceof CannotKeep)) throw error;
      for (piece.fill(0); done < source.size; done += PIECE_BYTES) send(piece.subarray(0, source.size - done));
    }
  };
  for (const entry of entries) {
    if (entry.kind === "file") {
      sendSource(entry.source);
      continue;
    }
    for (const { member, source } of entry.members) {
      send(tarHeader(member));
      if (source === null) continue;
      sendSource(source);
      const padding = paddingOf(source.size);
      if (padding > 0) send(Buffer.alloc(padding));
    }
    send(TAR_END);
  }
};

function* bytesOf(root: AnchoredFolder, source: Source, piece: Buffer): Generator<Buffer> {
  const handle = openAsFound(root, source);
  try {
    for (let done = 0; done < source.size; ) {
      const count = readSync(handle, piece, 0, Math.min(piece.length, source.size - done), done);
      if (count === 0) throw changed(source);
      yield piece.subarray(0, count);
      done += count;
    }
    if (!isAsFound(handle, source)) throw changed(source);
  } finally {
    closeSync(handle);
  }
}

const openAsFound = (root: AnchoredFolder, source: Source): number => {
  let handle: number;
  try {
    handle = root.open(source.parts);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CannotKeep(`${shownPath(source.parts.join("/"))} cannot be read (${code})`);
  }
  if (isAsFound(handle, source)) return handle;
  closeSync(handle);
  throw changed(source);
};

const isAsFound = (handle: number, { inode, size, changed }: Source): boolean => {
  const stat = fstatSync(handle, { bigint: true });
  return stat.isFile() && stat.ino === inode && Number(stat.size) === size && stat.mtimeNs === changed;
};

const changed = ({ parts }: Source): CannotKeep =>
  new CannotKeep(`${shownPath(parts.join("/"))} was changed while it was read`);
