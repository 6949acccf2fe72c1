import type { HostKind } from "../../../src/protocol/connection.ts";

const NAMES: Record<HostKind, [event: string, delivery: string]> = {
  github: ["X-GitHub-Event", "X-GitHub-Delivery"],
  gitlab: ["X-Gitlab-Event", "Idempotency-Key"],
  gitea: ["X-Gitea-Event", "X-Gitea-Delivery"],
};

/** Returns the headers of a delivery, without its proof. */
export const signedHeaders = (kind: HostKind, event: string, delivery: string): Record<string, string> => {
  const [eventName, deliveryName] = NAMES[kind];
  return { "Content-Type": "application/json", [eventName]: event, [deliveryName]: delivery };
};
