import { isMapping } from "@actions/workflow-parser";
import { firstPatternProblem, patternProblem } from "../domain/patterns.ts";
import { readCron } from "../domain/schedule.ts";
import { findSpans } from "../pipeline/expression/interpolation.ts";
import { type Marks, NoEqual } from "./marks.ts";
import type { Pushes } from "./names.ts";
import { type Comment, OutList, OutMap } from "./out.ts";
import { find, itemsOf, lineOf, type Pair, pairsOf, type Source, tokenText, type WorkflowToken } from "./source.ts";

/* Translates a workflow's `on` to `on` and `schedule`. An event with an untranslatable pattern builds nothing. */

const BY_DEFAULT = ["opened", "synchronize", "reopened"];
/** Events that need no key here: a person starts a build by hand, or another workflow calls this one. */
const BY_HAND = new Set(["workflow_dispatch", "workflow_call"]);

export interface Events {
  names: string[];
  has(name: string): boolean;
}

interface WrittenTriggers {
  events: Events;
  on: OutMap;
  schedule: OutList;
  pushes: Pushes;
}

/** Returns every event with its conditions. A single word or a list has none. */
const pairsIn = (on: WorkflowToken, source: Source): Pair[] =>
  isMapping(on)
    ? pairsOf(on)
    : itemsOf(on).map((one) => ({ key: tokenText(one, source), value: one, line: lineOf(one) }));

const SIGNS = /[+\\[\]]|\?/;
/** A class of characters, which may repeat: the same in patterns of refs here. */
const CLASS = /\[[A-Za-z0-9-]+\]\+?/g;

/** Returns patterns of refs or paths. Those of an `-ignore` key exclude from everything. @throws {NoEqual} */
const readPatterns = (token: WorkflowToken, isIgnored: boolean, kind: "ref" | "path", source: Source): string[] => {
  const items = itemsOf(token).map((one) => tokenText(one, source));
  for (const one of items)
    if (SIGNS.test(kind === "ref" ? one.replaceAll(CLASS, "") : one) || (isIgnored && one.startsWith("!")))
      throw new NoEqual(`the pattern ${one}`, "pattern");
  const patterns = isIgnored ? ["**", ...items.map((one) => `!${one}`)] : items;
  for (const one of patterns) {
    const problem = patternProblem(one, kind);
    if (problem !== null) throw new NoEqual(`the pattern ${one} (${problem})`, "pattern");
  }
  if (patterns.length > 100 || firstPatternProblem(patterns[0] ?? "")) throw new NoEqual("these patterns", "pattern");
  return patterns;
};

/** Reports whether patterns only exclude: `tags: '!**'` means that no tag is built. */
const isNone = (token: WorkflowToken | undefined, source: Source): boolean =>
  token !== undefined && itemsOf(token).every((one) => tokenText(one, source).startsWith("!"));
const NONE: string[] = [];

const either = (event: WorkflowToken, key: string, kind: "ref" | "path", source: Source): string[] | undefined => {
  const [included, ignored] = [find(event, key), find(event, `${key}-ignore`)];
  if (included) return readPatterns(included, false, kind, source);
  return ignored && readPatterns(ignored, true, kind, source);
};

const conditions = (lists: Record<string, string[] | undefined>): OutMap | true => {
  const map = new OutMap();
  for (const [key, patterns] of Object.entries(lists)) map.set(key, patterns);
  return map.isEmpty ? true : map;
};

class TriggerWriter {
  readonly on = new OutMap();
  readonly schedule = new OutList();
  readonly #source: Source;
  readonly #marks: Marks;
  readonly #withdrawn: ReadonlyMap<string, string>;

  constructor(source: Source, marks: Marks, withdrawn: ReadonlyMap<string, string>) {
    this.#source = source;
    this.#marks = marks;
    this.#withdrawn = withdrawn;
  }

  write(pair: Pair): void {
    const { key, value, line } = pair;
    try {
      const refused = this.#withdrawn.get(`on.${key}`);
      if (refused !== undefined) throw new NoEqual(`${key} (${refused})`, "refused");
      if (key === "push") this.#push(value);
      else if (key === "pull_request") this.#pull(pair);
      else if (key === "merge_group") this.#mergeGroup(value);
      else if (key === "schedule") this.#times(value);
      else if (!BY_HAND.has(key)) throw new NoEqual(`\`${key}\``, "event");
      else if (key === "workflow_dispatch" && find(value, "inputs"))
        throw new NoEqual("`inputs` (send variables in the request's `envVariables`)", "unknown");
    } catch (error) {
      if (!(error instanceof NoEqual)) throw error;
      this.on.say(this.#marks.add(error.kind, error.message, line, this.#source.lines(value, line)));
    }
  }

  /** Writes pushes. Without conditions on branches or tags, both count. Paths do not apply to tags. */
  #push(value: WorkflowToken): void {
    const source = this.#source;
    const branches = either(value, "branches", "ref", source);
    const tags = isNone(find(value, "tags"), source) ? NONE : either(value, "tags", "ref", source);
    const paths = either(value, "paths", "path", source);
    if (branches || !tags) this.on.set("push", conditions({ branches, paths }), "on.push");
    if (tags !== NONE && (tags || !branches)) this.on.set("tag", conditions({ names: tags }), "on.push");
  }

  #pull({ value, line }: Pair): void {
    const types = find(value, "types");
    const typeNames = itemsOf(types).map((one) => tokenText(one, this.#source).toLowerCase());
    if (types && !BY_DEFAULT.every((one) => typeNames.includes(one)))
      throw new NoEqual(`pull_request of types ${typeNames.join(", ")} (here every new head is built)`, "event");
    const more = typeNames.filter((one) => !BY_DEFAULT.includes(one));
    if (more.length > 0) this.on.say(this.#marks.add("event", `pull_request of types ${more.join(", ")}`, line));
    const base = either(value, "branches", "ref", this.#source);
    const paths = either(value, "paths", "path", this.#source);
    this.on.set("pull", conditions({ base, paths }), "on.pull_request");
  }

  #mergeGroup(value: WorkflowToken): void {
    if (find(value, "branches") || find(value, "branches-ignore"))
      throw new NoEqual("merge_group of some branches", "event");
    this.on.set("merge-group", true, "on.merge_group");
  }

  #times(value: WorkflowToken): void {
    for (const [index, item] of itemsOf(value).entries()) {
      const cron = find(item, "cron");
      const unit = `schedule.${index}`;
      const zone = find(item, "timezone");
      const text = cron ? tokenText(cron, this.#source) : "";
      const read = readCron(text);
      const problem = this.#withdrawn.get(unit) ?? ("problem" in read ? read.problem : undefined);
      const line = lineOf(cron ?? item);
      if (problem !== undefined) this.schedule.say(this.#marks.add("refused", `the time ${text} (${problem})`, line));
      else {
        const time = new OutMap().set("name", `schedule-${index + 1}`).set("cron", text);
        this.schedule.add(time.set("time-zone", zone && tokenText(zone, this.#source)), unit);
      }
    }
  }
}

const pushesOf = (pairs: Pair[], source: Source): Pushes => {
  const push = pairs.find(({ key }) => key === "push")?.value;
  if (!push) return "none";
  if (find(push, "branches-ignore")) return "some";
  const branches = find(push, "branches");
  if (branches && itemsOf(branches).every((one) => tokenText(one, source) === "**")) return "all";
  if (branches) return itemsOf(branches).some((one) => /[*?[+]/.test(tokenText(one, source))) ? "some" : "none";
  return find(push, "tags") || find(push, "tags-ignore") ? "none" : "all";
};

export const translateTriggers = (
  on: WorkflowToken,
  source: Source,
  marks: Marks,
  withdrawn: ReadonlyMap<string, string>,
): WrittenTriggers => {
  const writer = new TriggerWriter(source, marks, withdrawn);
  const pairs = pairsIn(on, source);
  for (const pair of pairs) writer.write(pair);
  const names = pairs.map(({ key }) => key);
  const { on: written, schedule } = writer;
  return {
    events: { names, has: (name) => names.includes(name) },
    on: written,
    schedule,
    pushes: pushesOf(pairs, source),
  };
};

/* Translates a workflow's `concurrency` to `supersede`. */

/** Expressions that are the same in all runs. */
const FIXED = /^github\.(?:workflow|repository|repository_owner)$/i;
/** Expressions that identify a pull request, and are empty in any other run. */
const OF_PULL = /^github\.(?:head_ref|event\.(?:number|pull_request\.(?:number|head\.(?:ref|label))))$/i;

/** Returns the names in a group whose expressions have the form `a || b`; null for any other group. */
const namesOfGroup = (group: string): string[] | null => {
  const inner = findSpans(group).spans.map((span) => span.inner.trim());
  const [own, ...others] = inner.filter((one) => !FIXED.test(one));
  return own === undefined || others.length > 0 ? null : own.split("||").map((name) => name.trim());
};

/** Returns the property that groups the other runs, if each pull request is a group of its own. */
const groupedBy = (group: string): "ref" | "run" | null => {
  const names = namesOfGroup(group) ?? [];
  const last = names.at(-1) ?? "";
  if (!names.slice(0, -1).every((name) => OF_PULL.test(name))) return null;
  if (/^github\.(?:ref|ref_name)$/i.test(last)) return "ref";
  return names.length > 1 && /^github\.(?:run_id|run_number|sha)$/i.test(last) ? "run" : null;
};

interface Superseding {
  supersede: "all" | "none";
  mark?: Comment;
}

/**
 * Returns whose older builds end. Without `concurrency`, no older builds end. In a pipeline file without `supersede`,
 * most older builds would end.
 */
export const translateSuperseding = (
  concurrency: WorkflowToken | undefined,
  events: Events,
  source: Source,
  marks: Marks,
): Superseding => {
  if (!concurrency) return { supersede: "none" };
  const group = tokenText(find(concurrency, "group") ?? concurrency, source).trim();
  const cancel = find(concurrency, "cancel-in-progress");
  const cancels = cancel ? tokenText(cancel, source).trim() : "false";
  const onlyPulls = events.names.every((name) => name === "pull_request" || name === "workflow_dispatch");
  const by = groupedBy(group);
  const isOfRef = by === "ref" || (onlyPulls && by === "run");
  if (cancels === "true" && isOfRef) return { supersede: "all" };
  const isOfPulls = cancels === "true" && by === "run";
  const instead = isOfPulls ? " (`supersede: refs` ends older builds of every branch except the default one)" : "";
  const line = lineOf(concurrency);
  return {
    supersede: "none",
    mark: marks.add("concurrency", `the group ${group}${instead}`, line, source.lines(concurrency, line)),
  };
};
