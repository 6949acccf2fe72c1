import { readConfig } from "../../config.ts";
import { type Delivery, proves, readDelivery } from "../../githosts/core/delivery.ts";
import { type DeliveryNote, deliveryNote, type KeptDelivery } from "../../githosts/core/delivery-note.ts";
import { type Hook, loadHookMint } from "../../githosts/core/hook-address.ts";
import { HOSTS } from "../../githosts/hosts.ts";
import { log } from "../../log.ts";
import type { DeliveryTaken } from "../../protocol/delivery.ts";
import { type Context, newContext } from "../core/context.ts";
import { outageRefusal } from "../core/outage.ts";
import { notFound, Refusal } from "../core/refusal.ts";
import { usable } from "../core/sealing.ts";
import { type SentDelivery, takeArrival, takeUnlisted } from "./arrivals.ts";

/** A hook whose address is genuine, with the secret that authenticates its deliveries. */
export type KnownHook = Hook & { secret: string };

/**
 * Returns the hook of an address, without a call to the database or an object.
 * @throws Refusal not-found for a forged address, or keyring-unavailable if TOKEN_KEYS cannot be used
 */
export const recognizeHook = async (env: Pick<Env, "TOKEN_KEYS">, token: string): Promise<KnownHook> => {
  const hook = await usable("TOKEN_KEYS", () => loadHookMint(env.TOKEN_KEYS)).recognize(token);
  if (!hook) throw notFound();
  return hook;
};

/**
 * Checks a delivery's proof and reads the delivery.
 * @throws Refusal unauthenticated, or malformed-body for bytes that no host sends
 */
export const provenDelivery = async (
  { kind, secret }: KnownHook,
  headers: Headers,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<Delivery> => {
  const host = HOSTS[kind];
  if (!(await proves(host, headers, bytes, secret))) {
    throw new Refusal("unauthenticated", "The delivery's signature is missing or wrong.");
  }
  const delivery = readDelivery(host, headers, bytes);
  if ("problem" in delivery) throw new Refusal("malformed-body", delivery.problem);
  return delivery;
};

const WAITS = "a part of the service is unavailable: the delivery waits and is processed automatically";

const isOutage = (error: unknown): boolean =>
  error instanceof Refusal ? error.kind === "unavailable" : outageRefusal(error) !== null;

/** A host's delivery, with the generation of the hook that received it. */
type HookDelivery = SentDelivery & { generation: number };

/**
 * Returns the note to keep. Returns none for a person's request at the host, because hours later nobody expects it any
 * more.
 */
const keepable = ({ id, event, arrival }: HookDelivery, { now }: Context): KeptDelivery["note"] | null => {
  if (arrival.kind === "rerun" || arrival.kind === "pressed") return null;
  const note = deliveryNote({ delivery: id, builds: [], ignored: WAITS }, event, arrival, now);
  return note.arrival && { ...note, arrival: note.arrival };
};

/** Stores the delivery in the connection's object, which needs no database. @returns whether the object keeps it */
const keep = async (context: Context, delivery: HookDelivery): Promise<boolean> => {
  const { orgId, origin, requestId, objects } = context;
  const { connectionId, generation } = delivery;
  const note = keepable(delivery, context);
  if (!note) return false;
  try {
    return await objects.gitHost(orgId, connectionId).keepDelivery({ note, generation, origin, requestId });
  } catch (error) {
    log.error("delivery.keep_failed", { orgId, requestId, connectionId, error });
    return false;
  }
};

/**
 * Processes a host's delivery after its proof was checked. During an outage, the service keeps the delivery, and the
 * answer says that the delivery waits.
 * @throws Refusal gone, or unavailable if the service can neither process nor keep the delivery
 */
export const takeOrKeep = async (context: Context, delivery: HookDelivery): Promise<DeliveryTaken> => {
  try {
    return await takeArrival(context, delivery);
  } catch (error) {
    if (!isOutage(error) || !(await keep(context, delivery))) throw error;
    const { requestId, orgId } = context;
    log.warn("delivery.kept", { orgId, requestId, connectionId: delivery.connectionId, error });
    return { delivery: delivery.id, builds: [], ignored: WAITS };
  }
};

const openContext = (env: Env, orgId: string, connectionId: string, { origin, requestId }: KeptDelivery): Context =>
  newContext({
    env,
    config: readConfig(env),
    requestId,
    origin,
    now: new Date(),
    bookmark: null,
    writes: true,
    caller: { kind: "connection", orgId, tokenHash: "", connectionId },
    access: { connection: true },
    waitUntil: () => {},
  });

/**
 * Processes a kept delivery, for the connection whose object has this name.
 * @returns its line in the list of deliveries; null if its hook is no longer valid
 * @throws if the service still cannot process it
 */
export const takeKept = async (env: Env, name: string, delivery: KeptDelivery): Promise<DeliveryNote | null> => {
  const [orgId = "", connectionId = ""] = name.split("/");
  const { note, generation, requestId } = delivery;
  const { id, at, event, arrival } = note;
  try {
    const context = openContext(env, orgId, connectionId, delivery);
    await context.admit();
    const outcome = await takeUnlisted(context, { connectionId, generation, id, event, arrival });
    return deliveryNote(outcome, event, arrival, new Date(at));
  } catch (error) {
    if (isOutage(error)) throw error;
    if (error instanceof Refusal && error.kind === "gone") return null;
    log.error("delivery.take_failed", { orgId, requestId, connectionId, error });
    return { ...note, ignored: "the service failed unexpectedly: redeliver it" };
  }
};
