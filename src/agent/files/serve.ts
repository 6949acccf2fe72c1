import { readSync, writeSync } from "node:fs";
import { AnchoredFolder } from "./anchored-folder.ts";
import { CannotKeep, findFiles } from "./find-files.ts";
import { DATA, type Frame, FrameParser, headOf, NOTE, noteFrame, PIECE_BYTES } from "./frames.ts";
import { CannotWrite, Receiver } from "./receive-files.ts";
import { AgentNote, type FoundFile, type HelperNote, HelperRequest } from "./requests.ts";
import { sendFiles } from "./send-files.ts";
import { tarBytes } from "./tar-format.ts";

/*
 * The file helper: a process of the agent's own program with the rights of the steps' user. It alone opens what steps
 * can change. It works synchronously, on its two pipes: no thread of it can be left with other rights.
 */

/** Gives up all rights but those of this user, for good. */
const become = (uid: number, gid: number): void => {
  process.setgroups?.([gid]);
  process.setgid?.(gid);
  process.setuid?.(uid);
  if (process.getuid?.() !== uid || process.geteuid?.() !== uid || process.getegid?.() !== gid)
    throw new Error("the file helper could not become the steps' user");
};

const writeAll = (bytes: Buffer): void => {
  for (let done = 0; done < bytes.length; ) done += writeSync(1, bytes, done);
};
const say = (note: HelperNote): void => writeAll(noteFrame(note));
const sendData = (bytes: Buffer): void => {
  writeAll(headOf(DATA, bytes.length));
  writeAll(bytes);
};

/** The frames of the agent, until it ends. */
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
  const found = entries.map((entry): FoundFile => {
    if (entry.kind === "file") return { path: entry.path, size: entry.source.size, mode: entry.mode };
    return { path: entry.path, size: tarBytes(entry.members.map(({ member }) => member)), mode: "644" };
  });
  say({ found, leftOut });
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

/** Serves one request of the agent. With a user, as this user. */
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
    // The agent has ended, or wants nothing more.
    if (code === "EPIPE") return;
    const isExpected = error instanceof CannotKeep || error instanceof CannotWrite;
    say({ problem: isExpected || code === undefined ? message : `the file helper failed (${code})` });
  }
};
