import { isMapping } from "@actions/workflow-parser";
import { firstPatternProblem, patternProblem } from "../domain/patterns.ts";
import { readCron } from "../domain/schedule.ts";
import { type Marks, NoEqual } from "./marks.ts";
import type { Pushes } from "./names.ts";
import { type Comment, OutList, OutMap } from "./out.ts";
import { find, itemsOf, lineOf, type Pair, pairsOf, type Source, tokenText, type WorkflowToken } from "./source.ts";

/* `on` of a workflow, as `on` and `schedule`. An event with a pattern that cannot be said builds nothing. */

const BY_DEFAULT = ["opened", "synchronize", "reopened"];
/** Events of a person who starts a build by hand, which needs no word here. */
const BY_HAND = new Set(["workflow_dispatch"]);

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

/** Every event with its conditions: a single word or a list has none. */
const pairsIn = (on: WorkflowToken, source: Source): Pair[] =>
  isMapping(on)
    ? pairsOf(on)
    : itemsOf(on).map((one) => ({ key: tokenText(one, source), value: one, line: lineOf(one) }));

const SIGNS = /[+\\[\]]|\?/;

/** Patterns of refs or paths; those of an `-ignore` take away from everything. @throws {NoEqual} */
const readPatterns = (token: WorkflowToken, isIgnored: boolean, kind: "ref" | "path", source: Source): string[] => {
  const items = itemsOf(token).map((one) => tokenText(one, source));
  for (const one of items)
    if (SIGNS.test(one) || (isIgnored && one.startsWith("!"))) throw new NoEqual(`the pattern ${one}`, "pattern");
  const patterns = isIgnored ? ["**", ...items.map((one) => `!${one}`)] : items;
  for (const one of patterns) {
    const problem = patternProblem(one, kind);
    if (problem !== null) throw new NoEqual(`the pattern ${one} (${problem})`, "pattern");
  }
  if (patterns.length > 100 || firstPatternProblem(patterns[0] ?? "")) throw new NoEqual("these patterns", "pattern");
  return patterns;
};

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
      else if (find(value, "inputs"))
        throw new NoEqual("`inputs` (give variables as `envVariables` of the request)", "unknown");
    } catch (error) {
      if (!(error instanceof NoEqual)) throw error;
      this.on.say(this.#marks.add(error.kind, error.message, line, this.#source.lines(value, line)));
    }
  }

  /** Without conditions on branches or tags a push is one of either; paths are not looked at for tags. */
  #push(value: WorkflowToken): void {
    const source = this.#source;
    const branches = either(value, "branches", "ref", source);
    const tags = either(value, "tags", "ref", source);
    const paths = either(value, "paths", "path", source);
    if (branches || !tags) this.on.set("push", conditions({ branches, paths }), "on.push");
    if (tags || !branches) this.on.set("tag", conditions({ names: tags }), "on.push");
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

/* `concurrency` of a workflow, as `supersede`. */

const NAME = String.raw`\$\{\{\s*github\.workflow\s*\}\}|[\w./-]+`;
const groupPattern = (inner: string): RegExp =>
  new RegExp(`^(?:(?:${NAME})-?)?\\$\\{\\{\\s*(?:${inner})\\s*\\}\\}(?:-(?:${NAME}))?$`);

/** One group a ref: a pull request's is its own. */
const BY_REF = groupPattern(String.raw`github\.ref|github\.ref_name|github\.head_ref\s*\|\|\s*github\.ref(?:_name)?`);
/** One group a pull request, and one a run of all else. */
const BY_PULL = groupPattern(
  String.raw`github\.head_ref\s*\|\|\s*github\.run_id|github\.event\.pull_request\.number\s*\|\|\s*github\.(?:run_id|sha)`,
);
const BY_NUMBER = groupPattern(String.raw`github\.event\.pull_request\.number\s*\|\|\s*github\.ref(?:_name)?`);

interface Superseding {
  supersede: "all" | "none";
  mark?: Comment;
}

/** Whose older builds end. Without `concurrency` none do; in a file without the key most would. */
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
  const isOfRef = BY_REF.test(group) || BY_NUMBER.test(group) || (onlyPulls && BY_PULL.test(group));
  if (cancels === "true" && isOfRef) return { supersede: "all" };
  const isOfPulls = cancels === "true" && BY_PULL.test(group);
  const instead = isOfPulls ? " (`supersede: refs` ends older builds of every branch but the default one)" : "";
  const line = lineOf(concurrency);
  return {
    supersede: "none",
    mark: marks.add("concurrency", `the group ${group}${instead}`, line, source.lines(concurrency, line)),
  };
};
