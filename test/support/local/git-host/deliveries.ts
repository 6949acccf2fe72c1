import { createHmac, randomUUID } from "node:crypto";
import type { HostKind } from "../../../../src/protocol/connection.ts";
import type { HostedHook } from "../../recording-host/host-state.ts";
import type { HostEvent } from "./payloads/event.ts";

/** Milliseconds for which a host waits for the answer. No host retries by itself. */
const PATIENCE: Record<HostKind, number> = { github: 10_000, gitlab: 10_000, gitea: 5_000 };

/** A delivery, and the answer to its last attempt: absent without an answer. */
export interface HostDelivery {
  id: string;
  hook: HostedHook;
  event: string;
  body: string;
  status: number | null;
  answer: string;
}

const hmac = (algorithm: string, secret: string, body: string): string =>
  createHmac(algorithm, secret).update(body).digest("hex");

const HEADERS: Record<HostKind, (delivery: HostDelivery) => Record<string, string>> = {
  github: ({ id, event, body, hook: { secret } }) => ({
    "User-Agent": "GitHub-Hookshot/044aadd",
    "X-GitHub-Event": event,
    "X-GitHub-Delivery": id,
    "X-Hub-Signature": `sha1=${hmac("sha1", secret, body)}`,
    "X-Hub-Signature-256": `sha256=${hmac("sha256", secret, body)}`,
  }),
  gitlab: ({ id, event, hook: { secret } }) => ({
    "User-Agent": "GitLab/18.9.0",
    "Idempotency-Key": id,
    "X-Gitlab-Event": event,
    "X-Gitlab-Event-UUID": randomUUID(),
    "X-Gitlab-Token": secret,
  }),
  gitea: ({ id, event, body, hook: { secret } }) => {
    const signature = hmac("sha256", secret, body);
    const named = (name: string) => ({ [`X-${name}-Delivery`]: id, [`X-${name}-Event`]: event });
    return {
      "User-Agent": "Go-http-client/1.1",
      ...{ ...named("Gitea"), ...named("Gogs"), ...named("GitHub") },
      ...{
        "X-Gitea-Signature": signature,
        "X-Gogs-Signature": signature,
        "X-Hub-Signature-256": `sha256=${signature}`,
      },
    };
  },
};

const EVENT_NAMES: Record<string, string> = {
  "Push Hook": "push_events",
  "Tag Push Hook": "tag_push_events",
  "Merge Request Hook": "merge_requests_events",
};

/** Reports whether the hook was registered for such events. */
export const wants = ({ events }: HostedHook, event: string): boolean =>
  event === "ping" || events.includes(EVENT_NAMES[event] ?? event);

export const newDelivery = (hook: HostedHook, { name, body }: HostEvent): HostDelivery => ({
  id: randomUUID(),
  hook,
  event: name,
  body: JSON.stringify(body),
  status: null,
  answer: "",
});

/** Sends it once, with its hook's proof, until the host's timeout. */
export const deliver = async (kind: HostKind, delivery: HostDelivery): Promise<void> => {
  const headers = { "Content-Type": "application/json", ...HEADERS[kind](delivery) };
  const signal = AbortSignal.timeout(PATIENCE[kind]);
  try {
    const answer = await fetch(delivery.hook.url, { method: "POST", headers, body: delivery.body, signal });
    delivery.answer = await answer.text();
    delivery.status = answer.status;
  } catch {
    delivery.status = null;
  }
};
