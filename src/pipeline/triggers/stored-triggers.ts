import type { Node } from "yaml";
import { refusedInRun } from "../../domain/env-names.ts";
import type { PipelineOn } from "../../protocol/pipeline.ts";
import type { TriggersOfFile } from "../fields/trigger-fields.ts";
import type { ParseContext } from "../parse/parse-context.ts";
import { hasJobs, PIPELINE_FILE } from "../parse/pipeline-file.ts";
import { type FileRead, readFile } from "../parse/read-file.ts";
import type { ScalarText } from "../yaml/node-parser.ts";
import { DEFAULT_TRIGGERS, type NamedSchedule, readOn, type Triggers } from "./triggers.ts";

const plainTexts = (scalars: ScalarText[] | undefined): string[] | undefined => scalars?.map((one) => one.text);

/** Returns the texts of `on` in the form of a pipeline's record. */
const toPipelineOn = ({ push, tag, pull, "merge-group": group }: NonNullable<TriggersOfFile["on"]>): PipelineOn => ({
  push: push && (push === true || { branches: plainTexts(push.branches), paths: plainTexts(push.paths) }),
  tag: tag && (tag === true || { names: plainTexts(tag.names) }),
  pull:
    pull &&
    (pull === true || {
      base: plainTexts(pull.base),
      paths: plainTexts(pull.paths),
      drafts: pull.drafts,
      labels: plainTexts(pull.labels),
    }),
  "merge-group": group,
});

const readSchedules = ({ schedule = [] }: TriggersOfFile, context: ParseContext): NamedSchedule[] => {
  const names = new Set<string>();
  return schedule.flatMap(({ name, cron, "time-zone": timeZone, env = [] }) => {
    if (!name || !cron) return [];
    if (names.has(name.text)) context.mistake(name.node, "Another schedule already has this name");
    names.add(name.text);
    for (const { key, node } of env.filter(({ key }) => refusedInRun(key)))
      context.mistake(node, `\`${key}\` could run code before a step does: set it in the steps' \`env\``);
    const variables = Object.fromEntries(env.map(({ key, value }) => [key, value.text]));
    return [{ name: name.text, cron: cron.text, timeZone: timeZone?.text ?? "UTC", env: variables }];
  });
};

/** Reads the triggers of a file. Two schedules with the same name are a mistake in the context. */
export const triggersOfFile = (file: TriggersOfFile, context: ParseContext): Triggers => ({
  on: file.on ? readOn(toPipelineOn(file.on)) : DEFAULT_TRIGGERS.on,
  supersede: file.supersede ?? DEFAULT_TRIGGERS.supersede,
  schedule: readSchedules(file, context),
});

const triggersIn = (root: Node, context: ParseContext): Triggers | undefined => {
  const file = (hasJobs(root) ? PIPELINE_FILE.jobs : PIPELINE_FILE.steps).parse(root, context);
  return file && triggersOfFile(file, context);
};

/**
 * Reads the triggers of a pipeline file, or returns its mistakes. Does not read scripts and expressions, because
 * `parseFile` reads them.
 */
export const parseTriggers = (text: string): FileRead<Triggers> => readFile(text, triggersIn);
