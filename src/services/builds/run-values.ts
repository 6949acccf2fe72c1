import type { ScheduledValues } from "../../db/schema.ts";
import { overridesRefused } from "../../domain/compose.ts";
import { refusedInRun } from "../../domain/env-names.ts";
import { inputsContext, scheduleContext } from "../../domain/seal-context.ts";
import type { Build, Trust } from "../../protocol/build.ts";
import { byteSize } from "../../protocol/limits.ts";
import type { ClaimedJob } from "../../queue/commands/commands.ts";
import type { Context } from "../core/context.ts";
import type { Keys } from "../core/keys.ts";
import { type FieldError, invalidFields, Refusal } from "../core/refusal.ts";

/** The environment can never be composed. The build fails with this message. */
export class Uncomposable extends Error {
  override name = "Uncomposable";
}

/** Seals a run's values for the pool. Returns null if the run has no values, as for every untrusted run. */
export const sealRun = async (
  context: Context,
  buildId: string,
  run: Record<string, string>,
  trust: Trust,
): Promise<string | null> => {
  if (trust === "untrusted" || Object.keys(run).length === 0) return null;
  return context.keys.seal(JSON.stringify(run), inputsContext(context.orgId, buildId));
};

/** Opens a run's values, which the pool keeps. */
export const openRun = async (
  context: Context,
  { id, trust }: Pick<Build, "id" | "trust">,
  sealed: string | null,
): Promise<Record<string, string>> => {
  if (trust === "untrusted" || sealed === null) return {};
  return JSON.parse(await context.keys.open(sealed, inputsContext(context.orgId, id)));
};

/** Opens the run's own values for the build or job that the agent was granted. */
export const openRunValues = (context: Context, { inputs, build }: ClaimedJob): Promise<Record<string, string>> =>
  openRun(context, build, inputs);

type Variables = Parameters<typeof overridesRefused>[0];

/**
 * Checks the `envVariables` of runs against the variables of the builds' scopes.
 * @throws Refusal invalid, naming each key that a run may not set, or too-large
 */
export const checkRunVariables = (run: Record<string, string>, variables: Variables, mostBytes: number): void => {
  const errors: FieldError[] = Object.keys(run)
    .filter(refusedInRun)
    .map((key) => ({
      pointer: `/envVariables/${key}`,
      detail: "could run code before the steps do: define it as a variable",
    }));
  for (const key of overridesRefused(variables, run)) {
    errors.push({ pointer: `/envVariables/${key}`, detail: "is a variable that builds may not override" });
  }
  if (errors.length > 0) throw invalidFields(errors);
  if (new TextEncoder().encode(JSON.stringify(run)).length > mostBytes) {
    throw new Refusal("too-large", `A build's \`envVariables\` may have at most ${byteSize(mostBytes)}.`);
  }
};

/** The schedule that owns the values. */
interface Owner {
  orgId: string;
  pipelineId: string;
  id: string;
}

/**
 * Seals the variables of a schedule's runs. Returns null if there are no variables.
 * @throws Refusal keyring-unavailable
 */
export const sealScheduled = async (
  keys: Keys,
  owner: Owner,
  values: Record<string, string>,
): Promise<ScheduledValues | null> => {
  const names = Object.keys(values);
  if (names.length === 0) return null;
  return { keys: names, sealed: await keys.seal(JSON.stringify(values), scheduleContext(owner)) };
};

/** @throws Damaged; Refusal keyring-unavailable */
export const openScheduled = async (
  keys: Keys,
  owner: Owner,
  values: ScheduledValues | null,
): Promise<Record<string, string>> =>
  values === null ? {} : JSON.parse(await keys.open(values.sealed, scheduleContext(owner)));
