import { closeSync, fstatSync, readSync, writeSync } from "node:fs";
import { AnchoredFolder } from "./anchored-folder.ts";
import { shownPath } from "./file-words.ts";
import { CannotKeep, type FileSource, findFiles, type KeptEntry } from "./find-files.ts";
import {
  AgentNote,
  DATA,
  type FoundFile,
  type Frame,
  FrameParser,
  frameHead,
  type HelperNote,
  HelperRequest,
  NOTE,
  noteFrame,
  PIECE_BYTES,
} from "./helper-protocol.ts";
import { CannotWrite, Receiver } from "./receive-files.ts";
import { TAR_END, tarBytes, tarHeader, tarPadding } from "./tar.ts";

/**
 * Passes the bytes of the found files to `send` in order. With `isLenient`, sends zeros for the rest of a file that has
 * changed.
 * @throws CannotKeep when a file has changed
 */
const sendFiles = (
  root: AnchoredFolder,
  entries: readonly KeptEntry[],
  send: (bytes: Buffer) => void,
  isLenient = false,
): void => {
  const piece = Buffer.alloc(PIECE_BYTES);
  const sendSource = (source: FileSource): void => {
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
      const padding = tarPadding(source.size);
      if (padding > 0) send(Buffer.alloc(padding));
    }
    send(TAR_END);
  }
};

function* bytesOf(root: AnchoredFolder, source: FileSource, piece: Buffer): Generator<Buffer> {
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

const openAsFound = (root: AnchoredFolder, source: FileSource): number => {
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

const isAsFound = (handle: number, { inode, size, changed }: FileSource): boolean => {
  const stat = fstatSync(handle, { bigint: true });
  return stat.isFile() && stat.ino === inode && Number(stat.size) === size && stat.mtimeNs === changed;
};

const changed = ({ parts }: FileSource): CannotKeep =>
  new CannotKeep(`${shownPath(parts.join("/"))} changed while it was being read`);

/*
 * The file helper: a process of the agent's own program with the rights of the steps' user. It alone opens files that
 * steps can change. It works synchronously on its two pipes, so that no thread can keep other rights.
 */

/** Permanently gives up all rights except this user's. */
const become = (uid: number, gid: number): void => {
  process.setgroups?.([gid]);
  process.setgid?.(gid);
  process.setuid?.(uid);
  if (process.getuid?.() !== uid || process.geteuid?.() !== uid || process.getegid?.() !== gid)
    throw new Error("the file helper cannot switch to the steps' user");
};

const writeAll = (bytes: Buffer): void => {
  for (let done = 0; done < bytes.length; ) done += writeSync(1, bytes, done);
};
const say = (note: HelperNote): void => writeAll(noteFrame(note));
const sendData = (bytes: Buffer): void => {
  writeAll(frameHead(DATA, bytes.length));
  writeAll(bytes);
};

/** Yields the agent's frames until the agent ends. */
function* frames(): Generator<Frame> {
  const parser = new FrameParser();
  for (;;) {
    for (let frame = parser.next(); frame; frame = parser.next()) yield frame;
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    const count = readSync(0, piece);
    if (count === 0) return;
    parser.push(piece.subarray(0, count));
  }
}

const noteIn = ({ kind, bytes }: Frame): unknown => (kind === NOTE ? JSON.parse(bytes.toString()) : null);

const collect = (request: Extract<HelperRequest, { op: "collect" }>, from: Generator<Frame>): void => {
  const root = new AnchoredFolder(request.root);
  const { entries, leftOut } = findFiles(root, request.paths, request);
  const files = entries.map((entry): FoundFile => {
    if (entry.kind === "file") return { path: entry.path, size: entry.source.size, mode: entry.mode };
    return { path: entry.path, size: tarBytes(entry.members.map(({ member }) => member)), mode: "644" };
  });
  say({ found: files, leftOut });
  const next = from.next();
  if (next.done || !("send" in AgentNote.parse(noteIn(next.value)))) return;
  sendFiles(root, entries, sendData, request.isLenient);
  say({ done: true });
};

const receive = (request: Extract<HelperRequest, { op: "receive" }>, from: Generator<Frame>): void => {
  const { cachePaths } = request;
  const root = new AnchoredFolder(request.root, { opensUp: cachePaths !== undefined });
  try {
    const receiver = new Receiver(root, request.folder, request.replaces, cachePaths);
    for (const frame of from) {
      if (frame.kind === DATA) receiver.push(frame.bytes);
      else {
        const note = AgentNote.parse(noteIn(frame));
        if ("file" in note) receiver.begin(note.file);
        else if ("close" in note) {
          receiver.close();
          return;
        }
      }
    }
  } finally {
    root.closeUp();
  }
};

/** Serves one agent request, as this user if there is one. */
export const serveFiles = (user: { uid: number; gid: number } | null): void => {
  if (user) become(user.uid, user.gid);
  process.umask(0o022);
  try {
    const from = frames();
    const first = from.next();
    if (first.done) return;
    const request = HelperRequest.parse(noteIn(first.value));
    if (request.op === "collect") collect(request, from);
    else {
      receive(request, from);
      say({ done: true });
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // The agent has ended, or needs no more data.
    if (code === "EPIPE") return;
    const isExpected = error instanceof CannotKeep || error instanceof CannotWrite;
    say({ problem: isExpected || code === undefined ? message : `the file helper failed (${code})` });
  }
};
