import type { Grant } from "../domain/pool/commands.ts";
import { inputsContext } from "../domain/seal-context.ts";
import type { Build, Trust } from "../protocol/build.ts";
import type { Context } from "./core/context.ts";
import { Uncomposable } from "./uncomposable.ts";

/** No JSON: where a part of the service does not know of trust, it fails to read this and hands nothing out. */
const UNTRUSTED = "untrusted";

/** The values of a run, sealed for the pool; null where there are none. An untrusted one has none, and says so. */
export const sealRun = async (
  context: Context,
  buildId: string,
  run: Record<string, string>,
  trust: Trust,
): Promise<string | null> => {
  if (trust === "trusted" && Object.keys(run).length === 0) return null;
  const text = trust === "trusted" ? JSON.stringify(run) : UNTRUSTED;
  return context.keys.seal(text, inputsContext(context.orgId, buildId));
};

/** The values of a run that the pool keeps, opened. @throws Uncomposable where the pool forgot that it is untrusted */
export const openRun = async (
  context: Context,
  { id, trust }: Pick<Build, "id" | "trust">,
  sealed: string | null,
): Promise<Record<string, string>> => {
  if (trust === "untrusted" || sealed === null) return {};
  const text = await context.keys.open(sealed, inputsContext(context.orgId, id));
  if (text === UNTRUSTED) throw new Uncomposable("The queue was of an earlier release when it took this build.");
  return JSON.parse(text);
};

/** The run's own values, of the build that is granted, or whose job is. */
export const runValuesOf = (context: Context, { inputs, build }: Grant): Promise<Record<string, string>> =>
  openRun(context, build, inputs);
