import * as z from "zod/mini";
import type { DeliveryNote } from "../../githosts/core/delivery-note.ts";
import { Id, PathId } from "../../protocol/common.ts";
import { DeliveryId, DeliveryTaken, HostDelivery } from "../../protocol/delivery.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { findConnection } from "../connections/connections.ts";
import type { Context } from "../core/context.ts";
import { notFound, Refusal } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";
import { takeArrival } from "./arrivals.ts";

/** Returns the last deliveries of a connection in the caller's organization, the newest first. */
const readNotes = ({ objects, orgId }: Context, { id }: { id: string }): Promise<DeliveryNote[]> =>
  objects.gitHost(orgId, id).deliveries(LIMITS.deliveries);

const deliveryRecord = ({ at, arrival, ...note }: DeliveryNote): HostDelivery => ({
  ...note,
  at: new Date(at).toISOString(),
  mayRedeliver: arrival !== null,
});

export const listDeliveries = verb({
  access: { role: "maintainer" },
  params: PathId,
  output: z.array(HostDelivery),
  async run(context, { params }) {
    const notes = await readNotes(context, await findConnection(context, params.id));
    return notes.map(deliveryRecord);
  },
});

/** Creates a new id of the form `ID~MILLISECONDS`, so that the pool does not treat the delivery as a repeat. */
const idOfAnother = (id: string, { now }: Context): string => `${id.replace(/~\d+$/, "")}~${now.getTime()}`;

/**
 * Redelivers a delivery to the pipelines as they are now.
 * @throws Refusal conflict if the service did not keep the delivery
 */
const redeliver = (context: Context, connectionId: string, { id, event, arrival }: DeliveryNote) => {
  if (arrival === null)
    throw new Refusal("conflict", "The delivery was too large to keep: redeliver it from the git host.");
  return takeArrival(context, { connectionId, generation: null, id: idOfAnother(id, context), event, arrival });
};

export const redeliverDelivery = verb({
  access: { role: "maintainer" },
  params: z.object({ id: Id, deliveryId: DeliveryId }),
  output: DeliveryTaken,
  async run(context, { params }) {
    const connection = await findConnection(context, params.id);
    if (!connection.isActive) throw new Refusal("conflict", "The connection is not active.");
    const note = (await readNotes(context, connection)).find(({ id }) => id === params.deliveryId);
    if (!note) throw notFound();
    return redeliver(context, params.id, note);
  },
});
