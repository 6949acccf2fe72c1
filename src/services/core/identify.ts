import { sameText } from "../../crypto/signer.ts";
import { hashToken, loadMint, type TokenPrefix } from "../../crypto/token.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Caller, CallerKind } from "./access.ts";
import { Refusal, tokenInvalid } from "./refusal.ts";
import { usable } from "./sealing.ts";

const KINDS: Record<Exclude<TokenPrefix, "mro">, CallerKind> = { mrt: "api", mrr: "registration", mra: "agent" };

/**
 * Reads the caller from the Authorization header. The tag in a token shows a forged one here, without a query.
 * @throws Refusal unauthenticated; keyring-unavailable where TOKEN_KEYS cannot be used
 */
export const identify = async (
  env: Pick<Env, "OPERATOR_TOKEN" | "TOKEN_KEYS">,
  authorization: string | null,
): Promise<Caller> => {
  const [, token = ""] = /^Bearer ([\x21-\x7e]{1,200})$/i.exec(authorization ?? "") ?? [];
  if (token === "") throw new Refusal("unauthenticated", "Send the header `Authorization: Bearer <token>`.");
  const tokenHash = await hashToken(token);
  const operator = env.OPERATOR_TOKEN ?? "";
  if (operator.length >= LIMITS.operatorTokenCharacters && sameText(token, operator)) {
    return { kind: "operator", orgId: "", tokenHash };
  }
  const recognized = await usable("TOKEN_KEYS", () => loadMint(env.TOKEN_KEYS)).recognize(token);
  if (!recognized || recognized.prefix === "mro") throw tokenInvalid();
  return { kind: KINDS[recognized.prefix], orgId: recognized.orgId, tokenHash };
};
