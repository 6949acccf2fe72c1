/* Base64url (RFC 4648, section 5) differs from base64 in two characters. */
const PLUS = 0x2b;
const SLASH = 0x2f;
const MINUS = 0x2d;
const UNDERSCORE = 0x5f;

/** Maps each byte of base64url to its byte in base64, and every other byte to itself. */
export const TO_BASE64 = Uint8Array.from({ length: 256 }, (_, byte) => byte);
TO_BASE64[MINUS] = PLUS;
TO_BASE64[UNDERSCORE] = SLASH;

export const toBase64Url = (base64: Uint8Array): Uint8Array =>
  base64.map((byte) => (byte === PLUS ? MINUS : byte === SLASH ? UNDERSCORE : byte));

/** 1 for each character of base64 and base64url, by byte. */
export const IS_BASE64 = new Uint8Array(256);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
  IS_BASE64[char.charCodeAt(0)] = 1;
