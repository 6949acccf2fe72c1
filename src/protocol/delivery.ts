import * as z from "zod/mini";
import { atMost, notEmpty } from "./checks.ts";
import { Id, Timestamp } from "./common.ts";
import { LIMITS } from "./limits.ts";

/** The answer to a git host: the builds that its delivery triggered, or the reason why it triggered no build. */
export const DeliveryTaken = z.object({
  delivery: z.string(),
  builds: z.array(Id),
  ignored: z.nullable(z.string()),
});
export type DeliveryTaken = z.infer<typeof DeliveryTaken>;

/** One delivery of a git host, and its result. */
export const HostDelivery = z.object({
  id: z.string(),
  at: Timestamp,
  event: z.string(),
  repository: z.nullable(
    z.object({ hostRepoId: z.int(), fullName: z.string(), defaultBranch: z.nullable(z.string()) }),
  ),
  ref: z.nullable(z.string()),
  sha: z.nullable(z.string()),
  builds: z.array(Id),
  ignored: z.nullable(z.string()),
  mayRedeliver: z.boolean(),
});
export type HostDelivery = z.infer<typeof HostDelivery>;

/** The id of a delivery at its host, or `ID~MILLISECONDS` if a person redelivered the delivery. */
export const DeliveryId = z.string().check(notEmpty(), atMost(LIMITS.deliveryIdCharacters));
