import { createHmac } from "node:crypto";

/** A hook as a person copied it, or as the service registered it. */
interface HostHook {
  url: string;
  secret: string;
}

const PREFIXES = { github: "X-GitHub", gitea: "X-Gitea" };

/** Delivers what the host would, with its proof. @throws unless the service takes it */
export const deliver = async (
  { url, secret }: HostHook,
  kind: keyof typeof PREFIXES,
  event: string,
  facts: object,
): Promise<void> => {
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
};
