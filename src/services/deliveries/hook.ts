import { type Delivery, readDelivery } from "../../githosts/core/delivery.ts";
import { proves } from "../../githosts/core/delivery-proof.ts";
import { type Hook, loadHookMint } from "../../githosts/core/hook-address.ts";
import { notFound, Refusal } from "../core/refusal.ts";
import { usable } from "../core/sealing.ts";

/** A hook whose address is genuine, with the secret that its deliveries prove to know. */
export type KnownHook = Hook & { secret: string };

/**
 * The hook of an address, without a call to the database or an object.
 * @throws Refusal not-found for a forged address; keyring-unavailable where TOKEN_KEYS cannot be used
 */
export const hookOf = async (env: Pick<Env, "TOKEN_KEYS">, token: string): Promise<KnownHook> => {
  const hook = await usable("TOKEN_KEYS", () => loadHookMint(env.TOKEN_KEYS)).recognize(token);
  if (!hook) throw notFound();
  return hook;
};

/**
 * Reads a delivery after its proof is checked.
 * @throws Refusal unauthenticated; malformed-body for bytes that no host sends
 */
export const provenDelivery = async (
  { kind, secret }: KnownHook,
  headers: Headers,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<Delivery> => {
  if (!(await proves(kind, headers, bytes, secret))) {
    throw new Refusal("unauthenticated", "The signature of the delivery is missing or wrong.");
  }
  const delivery = readDelivery(kind, headers, bytes);
  if ("problem" in delivery) throw new Refusal("malformed-body", delivery.problem);
  return delivery;
};
