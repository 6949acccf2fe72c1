import type { Node } from "yaml";
import { DEFAULT_TRIGGERS, type NamedSchedule, type On, type Triggers } from "../githost/triggers.ts";
import { mapping } from "./mapping-parser.ts";
import type { ScalarText } from "./node-parser.ts";
import type { ParseContext } from "./parse-context.ts";
import { FILE_FIELDS } from "./pipeline-file.ts";
import { type FileRead, readFile } from "./read-file.ts";
import { TRIGGER_FIELDS, type TriggersOfFile } from "./trigger-fields.ts";

const FILE = mapping({ ...FILE_FIELDS, ...TRIGGER_FIELDS }, { name: "a pipeline file" });

const textsOf = (written: ScalarText[] | undefined): string[] | null => written?.map((one) => one.text) ?? null;

/** The conditions of an event: none for `true`, null when the event is left out. */
const conditionsOf = <Conditions extends object>(event: true | Conditions | undefined): Partial<Conditions> | null =>
  event === true ? {} : (event ?? null);

const onOf = ({ on }: TriggersOfFile): On => {
  if (!on) return DEFAULT_TRIGGERS.on;
  const [push, tag, pull] = [conditionsOf(on.push), conditionsOf(on.tag), conditionsOf(on.pull)];
  return {
    push: push && { branches: textsOf(push.branches), paths: textsOf(push.paths) },
    tag: tag && { names: textsOf(tag.names) },
    pull: pull && {
      base: textsOf(pull.base),
      paths: textsOf(pull.paths),
      drafts: pull.drafts ?? true,
      labels: textsOf(pull.labels),
    },
    mergeGroup: on["merge-group"] === true,
  };
};

const scheduleOf = ({ schedule = [] }: TriggersOfFile, context: ParseContext): NamedSchedule[] => {
  const names = new Set<string>();
  return schedule.flatMap(({ name, cron, "time-zone": timeZone, env = [] }) => {
    if (!name || !cron) return [];
    if (names.has(name.text)) context.mistake(name.node, "Another schedule already has this name");
    names.add(name.text);
    const variables = Object.fromEntries(env.map(({ key, value }) => [key, value.text]));
    return [{ name: name.text, cron: cron.text, timeZone: timeZone?.text ?? "UTC", env: variables }];
  });
};

const triggersIn = (root: Node, context: ParseContext): Triggers | undefined => {
  const file = FILE.parse(root, context);
  if (!file) return undefined;
  const supersede = file.supersede ?? DEFAULT_TRIGGERS.supersede;
  return { on: onOf(file), supersede, schedule: scheduleOf(file, context) };
};

/**
 * What a pipeline file says of when it is built, or the mistakes of the file. Scripts and expressions are not read:
 * `parsePlan` does that.
 */
export const parseTriggers = (text: string): FileRead<Triggers> => readFile(text, triggersIn);
