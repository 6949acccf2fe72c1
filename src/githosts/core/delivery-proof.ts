import { sameText } from "../../crypto/signer.ts";
import type { HookKind } from "./hook-address.ts";

const fromHex = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/** The comparison is the runtime's, in constant time. */
const isMac = async (hex: string | undefined, bytes: Uint8Array<ArrayBuffer>, secret: string): Promise<boolean> => {
  if (!hex) return false;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(secret), algorithm, false, ["verify"]);
  return crypto.subtle.verify("HMAC", key, fromHex(hex), bytes);
};

/**
 * Whether who sent a delivery knows the hook's secret. One header counts for a kind, whatever else was sent: a wrong
 * one is not saved by a right one of another kind. Forgejo's own header counts before Gitea's.
 * @param bytes The body as it came.
 */
export const proves = async (
  kind: HookKind,
  headers: Headers,
  bytes: Uint8Array<ArrayBuffer>,
  secret: string,
): Promise<boolean> => {
  if (secret === "") return false;
  switch (kind) {
    case "github":
      return isMac(/^sha256=([0-9a-f]{64})$/.exec(headers.get("X-Hub-Signature-256") ?? "")?.[1], bytes, secret);
    case "gitea": {
      const signature = headers.get("X-Forgejo-Signature") ?? headers.get("X-Gitea-Signature") ?? "";
      return isMac(/^[0-9a-f]{64}$/.exec(signature)?.[0], bytes, secret);
    }
    case "gitlab":
      return sameText(headers.get("X-Gitlab-Token") ?? "", secret);
  }
};
