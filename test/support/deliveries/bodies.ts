import * as gitea from "./gitea.ts";
import * as github from "./github.ts";
import * as gitlab from "./gitlab.ts";

/** A JSON value whose fields tests change without checks. */
// biome-ignore lint/suspicious/noExplicitAny: the bodies of three hosts.
export type Changeable = any;

const BODIES = { ...github, ...gitlab, ...gitea };
export type BodyName = keyof typeof BODIES;

/** Returns the body of a delivery as a host sends it, after a change. */
export const bodyWith = (name: BodyName, change: (body: Changeable) => void = () => {}): Changeable => {
  const body: Changeable = BODIES[name]();
  change(body);
  return body;
};
