import { randomText } from "../crypto/token.ts";

const key = (id: string): string =>
  `${id}:${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64")}`;

/** New random values for the Worker's secrets. */
export const freshKeyset = (): Record<"OPERATOR_TOKEN" | "TOKEN_KEYS" | "SECRETS_KEYS", string> => ({
  OPERATOR_TOKEN: `mro_${randomText(42)}`,
  TOKEN_KEYS: key("t1"),
  SECRETS_KEYS: key("s1"),
});
