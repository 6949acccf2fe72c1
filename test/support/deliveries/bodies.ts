import * as gitea from "./gitea.ts";
import * as github from "./github.ts";
import * as gitlab from "./gitlab.ts";

/** A value of JSON at which tests change fields without asking what is there. */
// biome-ignore lint/suspicious/noExplicitAny: the bodies of three hosts.
export type Changeable = any;

const BODIES = { ...github, ...gitlab, ...gitea };
export type BodyName = keyof typeof BODIES;

/** The body of a delivery as a host sends it, after a change. */
export const bodyWith = (name: BodyName, change: (body: Changeable) => void = () => {}): Changeable => {
  const body: Changeable = BODIES[name]();
  change(body);
  return body;
};
