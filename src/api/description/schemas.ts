import * as z from "zod/mini";
import * as agent from "../../protocol/agent.ts";
import * as artifact from "../../protocol/artifact.ts";
import * as audit from "../../protocol/audit.ts";
import * as badge from "../../protocol/badge.ts";
import * as build from "../../protocol/build.ts";
import * as buildJob from "../../protocol/build-job.ts";
import * as buildStates from "../../protocol/build-states.ts";
import * as cache from "../../protocol/cache.ts";
import * as common from "../../protocol/common.ts";
import * as connection from "../../protocol/connection.ts";
import * as deadLetter from "../../protocol/dead-letter.ts";
import * as delivery from "../../protocol/delivery.ts";
import * as explain from "../../protocol/explain.ts";
import * as fileVariable from "../../protocol/file-variable.ts";
import * as group from "../../protocol/group.ts";
import * as jobRecord from "../../protocol/job-record.ts";
import * as jobs from "../../protocol/jobs.ts";
import * as log from "../../protocol/log.ts";
import * as metrics from "../../protocol/metrics.ts";
import * as organization from "../../protocol/organization.ts";
import * as organizationLimits from "../../protocol/organization-limits.ts";
import * as pipeline from "../../protocol/pipeline.ts";
import * as pipelineHistory from "../../protocol/pipeline-history.ts";
import * as problem from "../../protocol/problem.ts";
import * as repository from "../../protocol/repository.ts";
import * as restore from "../../protocol/restore.ts";
import * as rewrap from "../../protocol/rewrap.ts";
import * as schedule from "../../protocol/schedule.ts";
import * as serviceMetrics from "../../protocol/service-metrics.ts";
import * as testReport from "../../protocol/test-report.ts";
import * as token from "../../protocol/token.ts";
import * as variable from "../../protocol/variable.ts";
import { reach, renameReferences } from "./references.ts";
import { GROWING } from "./words/growing.ts";

export type JsonSchema = { [keyword: string]: unknown } & {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  required?: string[];
};
export type Schemas = Record<string, JsonSchema>;

const MODULES: Record<string, unknown>[] = [
  common,
  agent,
  artifact,
  audit,
  build,
  buildJob,
  jobRecord,
  buildStates,
  cache,
  connection,
  deadLetter,
  delivery,
  explain,
  fileVariable,
  group,
  jobs,
  log,
  metrics,
  organizationLimits,
  organization,
  pipeline,
  pipelineHistory,
  badge,
  schedule,
  problem,
  repository,
  restore,
  rewrap,
  serviceMetrics,
  testReport,
  token,
  variable,
];

/** The schemas of the wire, by the names under which they are exported. */
const NAMED = MODULES.flatMap((module) => Object.entries(module)).flatMap(([name, value]): [string, z.ZodMiniType][] =>
  value instanceof z.ZodMiniType ? [[name, value]] : [],
);

export const nameOf = (schema: unknown): string | undefined => NAMED.find(([, known]) => known === schema)?.[0];

const PLACE = "#/components/schemas/";
export const referenceTo = (name: string): JsonSchema => ({ $ref: PLACE + name });

/**
 * Removes what tells a reader nothing: patterns that repeat a format, and the bounds of every whole number. Adds the
 * default of a parameter.
 */
const plain = ({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: JsonSchema }): void => {
  const { type, defaultValue } = zodSchema._zod.def as { type: string; defaultValue?: unknown };
  if (type === "default") jsonSchema.default ??= typeof defaultValue === "boolean" ? `${defaultValue}` : defaultValue;
  if (jsonSchema.format === "uuid" || jsonSchema.format === "date-time") delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
};

const convert = (io: "input" | "output", unnamed: [string, z.ZodMiniType][]): Schemas => {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of [...NAMED, ...unnamed]) registry.add(schema, { id });
  const options = { io, unrepresentable: "any" as const, override: plain, uri: (id: string) => PLACE + id };
  const { schemas } = z.toJSONSchema(registry, options as never) as unknown as { schemas: Schemas };
  return Object.fromEntries(Object.entries(schemas).map(([id, { $schema: _, $id: __, ...schema }]) => [id, schema]));
};

/** Removes the upper bound of codes that may get new values in answers. */
const unbounded = (schemas: Schemas): Schemas => {
  for (const name of GROWING) delete schemas[name]?.maximum;
  return schemas;
};

/** Allows unknown fields in answers: new ones may be added, and clients ignore them. */
const opened = <T>(schema: T): T => {
  const isClosed = (name: string, value: unknown) => name === "additionalProperties" && value === false;
  return JSON.parse(JSON.stringify(schema, (name, value) => (isClosed(name, value) ? undefined : value))) as T;
};

export interface WireSchemas {
  schemas: Schemas;
  /** The name of a schema's sent form in the document. */
  sentName(name: string): string;
}

/**
 * The JSON Schemas of requests and answers, by name: those of the protocol, and the `sent` and `answered` ones that
 * have no name there. Where the two forms of one schema differ, the sent form is called `NameSent`.
 */
export const wireSchemas = (
  sent: [string, z.ZodMiniType][],
  answered: [string, z.ZodMiniType][],
  answers: string[],
): WireSchemas => {
  const inputs = convert("input", sent);
  const outputs = unbounded(opened(convert("output", answered)));
  const used = reach(answers.map(referenceTo), (reference) => outputs[reference.slice(PLACE.length)]);
  const differs = (name: string): boolean => JSON.stringify(inputs[name]) !== JSON.stringify(outputs[name]);
  const taken = new Set([...used].map((reference) => reference.slice(PLACE.length)).filter(differs));
  const sentName = (name: string): string => (taken.has(name) ? `${name}Sent` : name);
  const rename = (reference: string): string => PLACE + sentName(reference.slice(PLACE.length));
  const renamed = Object.entries(inputs).map(([name, schema]) => [sentName(name), renameReferences(schema, rename)]);
  return { schemas: { ...Object.fromEntries(renamed), ...pick(outputs, used) }, sentName };
};

const pick = (schemas: Schemas, references: Set<string>): Schemas =>
  Object.fromEntries(Object.entries(schemas).filter(([name]) => references.has(PLACE + name)));
