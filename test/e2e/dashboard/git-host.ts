import { createHmac } from "node:crypto";
import { newPull, newPush, SHA } from "../../support/host-events.ts";
import type { Stage } from "./stage.ts";

/** A hook that a person copied or the service registered. */
interface HostHook {
  url: string;
  secret: string;
}

const PREFIXES = { github: "X-GitHub", gitea: "X-Gitea" };

/** Sends the host's delivery with its proof. @returns the delivery's result @throws unless the service accepts it */
export const deliver = async (
  { url, secret }: HostHook,
  kind: keyof typeof PREFIXES,
  event: string,
  facts: object,
): Promise<{ builds: string[]; ignored: string | null }> => {
  const body = JSON.stringify(facts);
  const mac = createHmac("sha256", secret).update(body).digest("hex");
  const prefix = PREFIXES[kind];
  const proof: Record<string, string> =
    kind === "github" ? { "X-Hub-Signature-256": `sha256=${mac}` } : { "X-Gitea-Signature": mac };
  const headers = { "Content-Type": "application/json", [`${prefix}-Event`]: event, ...proof };
  const answer = await fetch(url, {
    method: "POST",
    body,
    headers: { ...headers, [`${prefix}-Delivery`]: crypto.randomUUID() },
  });
  if (answer.status !== 202) throw new Error(`${answer.status} ${await answer.text()}`);
  return answer.json();
};

/** Connects a new connection's repository. Its pipeline `ci` waits for an agent that never comes. */
export const connectWaiting = async ({ client }: Stage, fullName: string) => {
  const { id } = await client.call<{ id: string }>("POST", "/connection", {
    ...{ kind: "github", name: "GitHub", webUrl: `https://${crypto.randomUUID()}.example` },
  });
  const hostRepoId = Math.floor(Math.random() * 2 ** 40);
  const { id: repoId } = await client.call<{ id: string }>("POST", `/connection/${id}/repository`, {
    hostRepoId,
    fullName,
  });
  await client.call("POST", "/pipeline", {
    ...{ repoId, name: "ci", on: { push: true, pull: true }, requires: { labels: ["no-such-agent"] } },
  });
  const hook = await client.call<HostHook>("GET", `/connection/${id}/hook`);
  return { connectionId: id, hook, facts: { id: hostRepoId, fullName } };
};

/** Creates a connection with a delivery that has hostile and long texts, and the resulting pull request's build. */
export const deliverHostile = async (stage: Stage, title: string): Promise<{ connectionId: string }> => {
  const { connectionId, hook, facts } = await connectWaiting(stage, "acme/hostile");
  await deliver(hook, "github", "push", newPush(SHA("c"), { ...facts, message: title }));
  await deliver(
    hook,
    "github",
    "pull_request",
    newPull("opened", SHA("d"), { ...facts, title, branch: "b".repeat(200) }),
  );
  await deliver(
    hook,
    "github",
    "push",
    newPush(SHA("e"), { id: facts.id + 1, fullName: "acme/unknown", message: title }),
  );
  return { connectionId };
};
