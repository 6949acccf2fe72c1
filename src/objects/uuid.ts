import { toHex } from "../crypto/encoding.ts";

const LAST_COUNT = 0xfff;

/**
 * Returns a generator of UUIDs v7 (RFC 9562, section 6.2, method 1). The UUIDs sort in the order of their creation,
 * even within one millisecond. The generator's parameter `at` is in milliseconds since 1970.
 */
export const monotonicUuids = (): ((at: number) => string) => {
  let latest = 0;
  let count = 0;
  return (at) => {
    count = at > latest ? 0 : count + 1;
    latest = Math.max(at, latest);
    if (count > LAST_COUNT) {
      latest += 1;
      count = 0;
    }
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    new DataView(bytes.buffer).setBigUint64(0, (BigInt(latest) << 16n) | BigInt(0x7000 | count));
    bytes[8] = 0x80 | (bytes[8]! & 0x3f);
    return toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  };
};
