import { isMapping } from "@actions/workflow-parser";
import { translateText } from "./expression.ts";
import { type Marks, NoEqual } from "./marks.ts";
import type { Names } from "./names.ts";
import { OutMap } from "./out.ts";
import { find, isExpression, lineOf, pairsOf, type Source, tokenText, type WorkflowToken } from "./source.ts";
import { translateFolder } from "./step.ts";

/* Keys of a job that become other keys here. Each function writes to the job. */

export interface JobPlace {
  names: Names;
  source: Source;
  marks: Marks;
}

/** Writes what `make` creates, or a mark in its place. */
const orMark = ({ source, marks }: JobPlace, out: OutMap, token: WorkflowToken, make: () => void): void => {
  try {
    make();
  } catch (error) {
    if (!(error instanceof NoEqual)) throw error;
    const line = lineOf(token);
    out.say(marks.add(error.kind, error.message, line, source.lines(token, line)));
  }
};

/** Writes `environment`. The file does not say whether it requires an approval, so a mark asks a person. */
export const writeGate = (token: WorkflowToken, place: JobPlace, out: OutMap): void =>
  orMark(place, out, token, () => {
    const name = isMapping(token) ? find(token, "name") : token;
    const text = name ? tokenText(name, place.source) : "";
    out.say(place.marks.add("approval", `the environment ${text}`, lineOf(token)));
    let message: string;
    try {
      message = translateText(text, place.names);
    } catch {
      message = place.names.job ?? "this job";
    }
    out.set("gate", new OutMap().set("message", `Deploy to ${message}?`));
  });

export const writeConcurrency = (token: WorkflowToken, place: JobPlace, out: OutMap): void =>
  orMark(place, out, token, () => {
    const group = find(token, "group") ?? token;
    const cancel = find(token, "cancel-in-progress");
    const concurrency = new OutMap().set("group", translateText(tokenText(group, place.source), place.names));
    if (cancel && isExpression(cancel)) throw new NoEqual("a computed `cancel-in-progress`");
    if (cancel && tokenText(cancel, place.source) === "true") concurrency.set("when-busy", "cancel-running");
    else out.say(place.marks.add("group-order", "`concurrency` in which jobs wait", lineOf(token)));
    out.set("concurrency", concurrency);
  });

/** Writes `strategy`. GitHub's default for `fail-fast` is on; here the default is off. */
export const writeStrategy = (strategy: WorkflowToken, place: JobPlace, out: OutMap): void => {
  const failFast = find(strategy, "fail-fast");
  const most = find(strategy, "max-parallel");
  if (failFast && isExpression(failFast))
    out.say(place.marks.add("expression", "a computed `fail-fast` (here it is on)", lineOf(failFast)));
  out.set("fail-fast", !(failFast && tokenText(failFast, place.source) === "false"));
  if (!most) return;
  const text = tokenText(most, place.source);
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= 256) out.set("max-parallel", Number(text));
  else out.say(place.marks.add("expression", `\`max-parallel: ${text}\``, lineOf(most)));
};

/**
 * Writes the folder for all steps that name no folder. An untranslatable folder stops the job, because its steps would
 * run in another folder.
 * @throws {NoEqual}
 */
export const writeFolder = (token: WorkflowToken, { names, source }: Omit<JobPlace, "marks">, out: OutMap): void => {
  const run = new OutMap().set("working-directory", translateFolder(tokenText(token, source), names));
  out.set("defaults", new OutMap().set("run", run));
};

export const writeMayFail = (token: WorkflowToken, place: JobPlace, out: OutMap): void =>
  orMark(place, out, token, () => {
    const text = tokenText(token, place.source);
    if (!isExpression(token)) {
      if (text === "true") out.set("continue-on-error", true);
      return;
    }
    out.set("continue-on-error", translateText(text, place.names));
  });

export const writeOutputs = (
  token: WorkflowToken,
  place: JobPlace,
  out: OutMap,
  unit: string,
  withdrawn: ReadonlyMap<string, string>,
): void => {
  const outputs = new OutMap();
  for (const { key, value } of pairsOf(token))
    orMark(place, outputs, value, () => {
      const own = `${unit}.${key}`;
      const refused = withdrawn.get(own);
      if (refused !== undefined) throw new NoEqual(`the output ${key} (${refused})`, "refused");
      outputs.set(key, translateText(tokenText(value, place.source), place.names), own);
    });
  if (outputs.items.length > 0) out.set("outputs", outputs);
};

/** Keys that say where steps run. Steps for a disposable machine do not run on a lasting one. */
export const PLACES = ["container", "services"] as const;
