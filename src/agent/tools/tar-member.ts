/* Reads one file out of a tarball in memory (POSIX ustar, pax(1)): nothing else of it is unpacked. */

const BLOCK = 512;

const textAt = (block: Buffer, start: number, length: number): string => {
  const field = block.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end < 0 ? length : end);
};

/** The content of the regular file `name`; null where the tarball has none. */
export const tarMember = (tar: Buffer, name: string): Buffer | null => {
  for (let at = 0; at + BLOCK <= tar.length; ) {
    const header = tar.subarray(at, at + BLOCK);
    const size = Number.parseInt(textAt(header, 124, 12).trim(), 8);
    if (!Number.isSafeInteger(size) || size < 0) return null;
    const content = at + BLOCK;
    const isFile = header[156] === 0 || header[156] === 0x30;
    if (isFile && textAt(header, 0, 100) === name)
      return content + size <= tar.length ? tar.subarray(content, content + size) : null;
    at = content + Math.ceil(size / BLOCK) * BLOCK;
  }
  return null;
};
