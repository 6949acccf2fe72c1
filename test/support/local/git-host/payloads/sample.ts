import { readFileSync } from "node:fs";
import { join } from "node:path";

const SAMPLES = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../../domain/githost/deliveries.json"), "utf8"),
) as { deliveries: { id: string; payload: string }[] };

/** A value of JSON into which facts are put without asking what is there. */
// biome-ignore lint/suspicious/noExplicitAny: the bodies of three hosts.
export type Payload = any;

/** The body that a real host sent once, with other facts put into it. */
export const sampleWith = (id: string, change: (body: Payload) => void): Payload => {
  const body = JSON.parse(SAMPLES.deliveries.find((delivery) => delivery.id === id)?.payload ?? "null");
  change(body);
  return body;
};
