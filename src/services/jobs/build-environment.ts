import { type ComposedEntry, compose, EnvironmentTooLarge } from "../../domain/compose.ts";
import { type AttachedGroup, openGroups } from "../../pipeline/graph/group-protection.ts";
import type { EnvironmentKey } from "../../protocol/build.ts";
import type { HandedEnvironment } from "../../protocol/jobs.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { ClaimedJob } from "../../queue/commands/commands.ts";
import { openRunValues, Uncomposable } from "../builds/run-values.ts";
import type { Context } from "../core/context.ts";
import { Damaged } from "../core/sealing.ts";
import { scoped } from "../variables/environment-preview.ts";
import { storedValue, type VariableRow } from "../variables/variables.ts";

/** Returns why the service can never hand out the environment; null if a later attempt may succeed. */
export const unopenable = (error: unknown): string | null => {
  if (error instanceof Uncomposable || error instanceof EnvironmentTooLarge) return error.message;
  return error instanceof Damaged ? "A secret's sealed value is damaged: set its value again." : null;
};

/** A group in a pipeline's record, as `groupsOfPipeline` reads it. */
type GroupRow = { [field in keyof AttachedGroup]: AttachedGroup[field] | null };

export const attachedGroups = (rows: GroupRow[]): AttachedGroup[] =>
  rows.map(({ id, name, protection }) => {
    if (id === null || name === null) throw new Uncomposable("One of the pipeline's groups was deleted.");
    return { id, name, protection };
  });

/**
 * Reports whether a protected group sets the variable. A person who can trigger a build cannot override such a value,
 * for example a release's target.
 */
const isProtected = (attached: AttachedGroup[], { scope, ownerId }: VariableRow): boolean =>
  scope === "group" && attached.some(({ id, protection }) => id === ownerId && protection !== null);

/**
 * Requires file support if there are files. An agent older than 0.7.0 cannot write files, and would run the steps
 * without them.
 * @throws Uncomposable
 */
const checkFiles = ({ headers }: Context, entries: ComposedEntry[]): void => {
  const one = entries.find(({ file }) => file !== undefined);
  if (one && !headers.features.includes("files"))
    throw new Uncomposable(`${one.key} is a file, which this agent is too old to write: upgrade the agent.`);
};

/**
 * Composes the environment for the lease's holder, and opens no other value. An untrusted build gets no secret. A
 * protected group stays closed unless a job names it.
 * @throws Uncomposable; EnvironmentTooLarge; Damaged; Refusal keyring-unavailable
 */
export const composeFor = async (
  context: Context,
  claimed: ClaimedJob,
  sources: { rows: VariableRow[]; groups: GroupRow[] },
): Promise<ComposedEntry[]> => {
  if (sources.rows.length > LIMITS.activeVariables) throw new EnvironmentTooLarge("variables");
  const { job, decision = null } = claimed.job ?? {};
  const trust = claimed.build.trust ?? "trusted";
  const asking = { groups: job?.groups ?? [], branch: claimed.build.branch, decision, trust };
  const attached = attachedGroups(sources.groups);
  const { groupIds, refused } = openGroups(attached, asking);
  if (refused !== null) throw new Uncomposable(refused);
  const open = sources.rows
    .filter(({ scope, ownerId }) => scope !== "group" || groupIds.includes(ownerId))
    .map((row) => (isProtected(attached, row) ? { ...row, allowOverride: false } : row));
  const isHidden = ({ isSecret, fileEncoding }: VariableRow) =>
    trust === "untrusted" && (isSecret || fileEncoding !== null);
  const variables = await Promise.all(
    open.map(async (row) => scoped(row, isHidden(row) ? "" : await storedValue(context, row))),
  );
  const run = await openRunValues(context, claimed);
  const entries = compose({ variables, groupIds, run, secretKeys: claimed.secretKeys }, trust);
  checkFiles(context, entries);
  return entries;
};

const toFiles = (entries: ComposedEntry[]): HandedEnvironment["files"] =>
  Object.fromEntries(
    entries.flatMap(({ key, value: text, file }) =>
      file ? [[key, { encoding: file.encoding, text, ...(file.name !== null && { name: file.name }) }]] : [],
    ),
  );

/** Returns the environment in the form that agents receive. */
export const handedEnvironment = (entries: ComposedEntry[]): HandedEnvironment => ({
  env: Object.fromEntries(entries.filter(({ file }) => !file).map(({ key, value }) => [key, value])),
  secretKeys: entries.filter((entry) => entry.isSecret).map((entry) => entry.key),
  runKeys: entries.filter((entry) => entry.scope === "run").map((entry) => entry.key),
  ...(entries.some(({ file }) => file) && { files: toFiles(entries) }),
});

/** Returns the values to mask. */
export const listSecrets = (entries: ComposedEntry[]): string[] =>
  entries.filter((entry) => entry.isSecret).map((entry) => entry.value);

/** Returns the facts that the pool keeps about a hand-out: the names, and the variables that it used. */
export const deliveredKeys = (entries: ComposedEntry[]): { environment: EnvironmentKey[]; variableIds: string[] } => ({
  environment: entries.map(({ key, scope, isSecret, version, file }) => ({
    key,
    scope,
    isSecret,
    version,
    ...(file && { isFile: true }),
  })),
  variableIds: entries.flatMap((entry) => entry.variableId ?? []),
});
