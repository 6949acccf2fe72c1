/*
 * Tar as POSIX 1003.1-2001 (pax) has it: blocks of 512 bytes, a header for each member, and before it another one with
 * a path, link or size that does not fit in.
 */

export const BLOCK = 512;
const NAME_BYTES = 100;
const LARGEST_OCTAL_SIZE = 0o77777777777;

export interface TarMember {
  kind: "file" | "folder" | "link";
  path: string;
  mode: number;
  /** Bytes of a file; 0 of anything else. */
  size: number;
  /** Seconds. */
  mtime: number;
  /** What a link says. */
  link: string;
}

const KINDS = { file: "0", folder: "5", link: "2" } as const;

export const tarPadding = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, "0")}\0`;

const header = (type: string, path: string, { mode, size, mtime, link }: Omit<TarMember, "path" | "kind">): Buffer => {
  const block = Buffer.alloc(BLOCK);
  block.write(path, 0, NAME_BYTES);
  block.write(octal(mode & 0o777, 7), 100, "latin1");
  block.write(octal(0, 7), 108, "latin1");
  block.write(octal(0, 7), 116, "latin1");
  block.write(octal(Math.min(size, LARGEST_OCTAL_SIZE), 11), 124, "latin1");
  block.write(octal(Math.max(0, Math.min(mtime, LARGEST_OCTAL_SIZE)), 11), 136, "latin1");
  block.write(type, 156, "latin1");
  block.write(link, 157, NAME_BYTES);
  block.write("ustar\0" + "00", 257, "latin1");
  block.write(octal(tarChecksum(block), 6), 148, "latin1");
  block[155] = 0x20;
  return block;
};

/** The sum of all bytes, those of the sum itself taken as spaces. */
export const tarChecksum = (block: Buffer): number =>
  block.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 0x20 : byte), 0);

/** `LENGTH KEY=VALUE\n`, where the length counts its own digits. */
const paxRecord = (key: string, value: string): Buffer => {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (rest + String(length).length !== length) length = rest + String(length).length;
  return Buffer.from(`${length} ${key}=${value}\n`);
};

/** The blocks before the content of a member. */
export const tarHeader = (member: TarMember): Buffer => {
  const path = member.kind === "folder" ? `${member.path}/` : member.path;
  const records = [
    ...(Buffer.byteLength(path) > NAME_BYTES ? [paxRecord("path", path)] : []),
    ...(Buffer.byteLength(member.link) > NAME_BYTES ? [paxRecord("linkpath", member.link)] : []),
    ...(member.size > LARGEST_OCTAL_SIZE ? [paxRecord("size", String(member.size))] : []),
  ];
  const own = header(KINDS[member.kind], path, member);
  if (records.length === 0) return own;
  const text = Buffer.concat(records);
  const more = header("x", "pax", { mode: 0o644, size: text.length, mtime: 0, link: "" });
  return Buffer.concat([more, text, Buffer.alloc(tarPadding(text.length)), own]);
};

/** Two empty blocks. */
export const TAR_END = Buffer.alloc(2 * BLOCK);

export const tarBytes = (members: readonly TarMember[]): number =>
  members.reduce((sum, one) => sum + tarHeader(one).length + one.size + tarPadding(one.size), TAR_END.length);
