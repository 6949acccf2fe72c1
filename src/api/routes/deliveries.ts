import { listDeliveries, redeliverDelivery } from "../../services/githost/deliveries.ts";
import { act, describing, get, type Route } from "./route.ts";

export const DELIVERY_ROUTES: Route[] = [
  get(
    "/connection/:id/delivery",
    { listDeliveries },
    describing && {
      tag: "Connections",
      summary: "List the last deliveries of a git host",
      description:
        "The newest first, at most 200: what each made, or why it made nothing. Deliveries whose signature is wrong are not among them.",
    },
  ),
  act(
    "/connection/:id/delivery/:deliveryId/redeliver",
    { redeliverDelivery },
    describing && {
      tag: "Connections",
      summary: "Take a delivery once more",
      description:
        "As if the host had sent it again, with the pipelines as they are now. Builds that it made already are not made twice.",
      problems: ["conflict"],
    },
  ),
];
