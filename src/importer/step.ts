import { KEEPING_ACTIONS, keepingKey, LATER_ACTIONS } from "./actions.ts";
import { isOtherCheckout } from "./checkout.ts";
import { translateCondition, translateText } from "./expression.ts";
import { type Marks, NoEqual } from "./marks.ts";
import type { Names, StepFate } from "./names.ts";
import { type Comment, OutMap } from "./out.ts";
import { translateScript, translateShell, withCheckout } from "./script.ts";
import type { Commands } from "./set-up-rules.ts";
import { isSetUp } from "./set-ups.ts";
import {
  conditionText,
  find,
  isExpression,
  lineOf,
  misread,
  type Pair,
  pairsOf,
  type Source,
  tokenText,
  type WorkflowToken,
} from "./source.ts";

/** A step's kind, before its translation. */
type StepKind = "run" | "checkout" | "set-up" | "keeping" | "later" | "lost";

export interface ReadStep {
  token: WorkflowToken;
  kind: StepKind;
  action: string;
  /** The action's version: a tag, a branch or a commit. */
  ref: string;
  inputs: Pair[];
  id: string | null;
  fate: StepFate;
  /** Why a local action could not be translated. */
  refusal?: string;
}

export const readStep = (token: WorkflowToken, source: Source): ReadStep => {
  const uses = find(token, "uses");
  const id = find(token, "id");
  const [action = "", ref = ""] = uses ? tokenText(uses, source).trim().split("@") : [];
  const inputs = pairsOf(find(token, "with"));
  const read = { token, action, ref, inputs, id: id ? tokenText(id, source) : null };
  if (find(token, "run")) return { ...read, kind: "run", fate: "kept" };
  if (Object.hasOwn(KEEPING_ACTIONS, action.toLowerCase()))
    return { ...read, kind: "keeping", fate: keepingKey(action) === "cache" ? "cache" : "lost" };
  const later = Object.hasOwn(LATER_ACTIONS, action.toLowerCase()) ? LATER_ACTIONS[action.toLowerCase()] : undefined;
  if (later) return { ...read, kind: "later", fate: later.fate };
  if (/^actions\/checkout$/i.test(action) && !isOtherCheckout(inputs, source))
    return { ...read, kind: "checkout", fate: "lost" };
  return { ...read, kind: isSetUp(action) ? "set-up" : "lost", fate: "lost" };
};

/** What the job says about its steps. */
interface StepPlace {
  names: Names;
  shell: string | undefined;
  source: Source;
  marks: Marks;
}

/** Writes a step's or job's `timeout-minutes`, with fractions rounded up. */
export const writeTimeout = (token: WorkflowToken | undefined, source: Source, marks: Marks, out: OutMap): void => {
  if (!token) return;
  const text = tokenText(token, source);
  const minutes = Number(text);
  if (isExpression(token) || !(minutes > 0)) {
    out.say(marks.add("timeout", `\`timeout-minutes: ${text}\``, lineOf(token)));
    return;
  }
  const whole = Math.min(1440, Math.ceil(minutes));
  if (whole !== minutes) out.say(marks.add("timeout", `\`timeout-minutes: ${text}\``, lineOf(token)));
  out.set("timeout-minutes", whole);
};

const KEY = /^(?!MILLRACE_|__proto__$)[A-Za-z_][A-Za-z0-9_]*$/;

/** Translates variables, some of which may have no equivalent. `later` gets those that the job's first step can set. */
export const translateEnv = (
  token: WorkflowToken | undefined,
  names: Names,
  { source, marks }: Pick<StepPlace, "source" | "marks">,
  unit: string,
  withdrawn: ReadonlyMap<string, string>,
  later?: Map<string, string>,
): OutMap | undefined => {
  if (!token) return undefined;
  const out = new OutMap();
  if (isExpression(token)) return out.say(marks.add("expression", "a computed `env`", lineOf(token)));
  const before: string[] = [];
  const all = pairsOf(token);
  for (const { key, value, line } of all) {
    const own = `${unit}.${key}`;
    try {
      const refused = withdrawn.get(own);
      if (refused !== undefined) throw new NoEqual(`${key} (${refused})`, "refused");
      if (!KEY.test(key)) throw new NoEqual(`the variable ${key}`, "unknown");
      // On GitHub an entry does not see the entries above it; here it does.
      const seen = { ...names, wrongEnv: [...names.wrongEnv, ...before] };
      const inCheckout = later && withCheckout(tokenText(value, source), seen);
      if (inCheckout !== undefined) {
        later?.set(key, inCheckout);
        continue;
      }
      const translation = translateText(tokenText(value, source), seen);
      const original = misread(value, source);
      if (original !== undefined) out.say(marks.add("number", `${original} is ${tokenText(value, source)}`, line));
      out.say(...source.commentsOn(line)).set(key, translation, own);
      before.push(key);
    } catch (error) {
      if (!(error instanceof NoEqual)) throw error;
      out.say(marks.add(error.kind, `${key} with ${error.message}`, line, source.lines(value, line)));
    }
  }
  return out;
};

/**
 * Adds a place's variables to the names. An untranslatable variable is unknown in expressions. A script that names it
 * does not run: `rm -r $FOLDER/*` would be another command. A step can do without the host's token.
 */
export const withEnv = (
  names: Names,
  token: WorkflowToken | undefined,
  written: OutMap | undefined,
  source: Source,
  later: ReadonlyMap<string, string> = new Map(),
): Names => {
  const all = pairsOf(token);
  const keys = all.map(({ key }) => key);
  const lost = all.filter(({ key }) => !written?.has(key) && !later.has(key));
  const isToken = ({ value }: Pair) => /\bgithub\.token\b|\bGITHUB_TOKEN\b/i.test(tokenText(value, source));
  const needed = lost.filter((pair) => !isToken(pair)).map(({ key }) => key);
  return {
    ...names,
    env: [...names.env, ...keys],
    texts: new Map([...(names.texts ?? []), ...all.map(({ key, value }) => [key, tokenText(value, source)] as const)]),
    wrongEnv: [...names.wrongEnv.filter((key) => !keys.includes(key)), ...lost.map(({ key }) => key), ...later.keys()],
    ofCheckout: new Map([...[...(names.ofCheckout ?? [])].filter(([key]) => !keys.includes(key)), ...later]),
    lostEnv: [...names.lostEnv.filter((key) => !keys.includes(key)), ...needed],
  };
};

const KNOWN_KEYS = new Set("id name run if shell env working-directory timeout-minutes continue-on-error".split(" "));

const downFromCheckout = (text: string): string =>
  text.replace(/^(?:\$\{\{\s*github\.workspace\s*\}\}|\$GITHUB_WORKSPACE)(?:\/|$)/, "");

/** Returns the folder relative to the checkout, if known. */
export const staticFolder = (token: WorkflowToken, source: Source): string | undefined => {
  const text = downFromCheckout(tokenText(token, source));
  return text.includes("${{") ? undefined : text;
};

export const translateFolder = (folder: string, names: Names): string =>
  translateText(downFromCheckout(folder) || ".", names);

const KEYS_OF_ACTIONS = new Set([...KNOWN_KEYS, "uses", "with"]);

/** Translates a `run` step, or the commands that replace an action. @throws {NoEqual} if it cannot run at all */
const runStep = (
  { token, id }: ReadStep,
  place: StepPlace,
  unit: string,
  withdrawn: ReadonlyMap<string, string>,
  commands?: Commands,
): OutMap => {
  const { source, marks } = place;
  const own = find(token, "env");
  const env = pairsOf(own).map(({ key }) => key);
  const variables = translateEnv(own, place.names, place, `${unit}.env`, withdrawn) ?? new OutMap();
  const ownFolder = find(token, "working-directory");
  const folder = ownFolder ? staticFolder(ownFolder, source) : place.names.folder;
  const names = { ...withEnv(place.names, own, variables, source), folder };
  const lost = names.lostEnv.find((key) => env.includes(key));
  if (lost !== undefined) throw new NoEqual(`the variable ${lost}`);
  const shellToken = find(token, "shell");
  const shellText = shellToken ? tokenText(shellToken, source) : place.shell;
  const runToken = find(token, "run") ?? token;
  const raw = commands?.run ?? tokenText(runToken, source);
  const { shell, prelude } = translateShell(commands ? undefined : shellText, raw);
  const script = translateScript(raw, shell ?? "bash", names);
  const known = commands ? KEYS_OF_ACTIONS : KNOWN_KEYS;
  for (const { key } of pairsOf(token)) if (!known.has(key)) throw new NoEqual(`\`${key}\``, "unknown");
  const out = new OutMap();
  out.set("id", id ?? undefined);
  const name = find(token, "name");
  if (name) translateName(name, names, place, out);
  const withOwn = { ...place.names, wrongEnv: [...place.names.wrongEnv, ...env] };
  if (writeIf(token, withOwn, place, out, withdrawn.get(`${unit}.if`), unit)) out.set("if", false);
  out.set("shell", shell);
  if (ownFolder) out.set("working-directory", translateFolder(tokenText(ownFolder, source), names));
  // An action ignores `defaults`: it runs in the checkout.
  const isInAction = commands !== undefined || place.names.isOfAction === true;
  const isElsewhere = commands?.folder !== undefined || place.names.isOfAction || place.names.folder !== "";
  if (isInAction && isElsewhere && !ownFolder)
    out.set("working-directory", translateFolder(commands?.folder ?? ".", names));
  writeTimeout(find(token, "timeout-minutes"), source, marks, out);
  const mayFail = find(token, "continue-on-error");
  if (mayFail && isExpression(mayFail))
    out.say(marks.add("may-fail", `\`continue-on-error: ${tokenText(mayFail, source)}\``, lineOf(mayFail)));
  if (mayFail && tokenText(mayFail, source) === "true") out.set("continue-on-error", true);
  for (const [key, value] of script.env) if (!variables.has(key)) variables.set(key, value);
  if (variables.items.length > 0) out.set("env", variables);
  for (const one of new Set(script.words)) out.say(marks.add("words", `\${{ ${one} }}`, lineOf(runToken)));
  return out.set("run", prelude === "" ? script.text : `${prelude}\n${script.text}`);
};

export const translateName = (
  token: WorkflowToken,
  names: Names,
  { source, marks }: Pick<StepPlace, "source" | "marks">,
  out: OutMap,
): void => {
  try {
    const text = translateText(tokenText(token, source), names);
    if (text !== "") out.set("name", text);
  } catch (error) {
    if (!(error instanceof NoEqual)) throw error;
    out.say(marks.add(error.kind, `the name with ${error.message}`, lineOf(token), source.lines(token)));
  }
};

/** Writes a condition. @returns whether it is untranslatable; then it is never true, and a mark says so */
export const writeIf = (
  token: WorkflowToken,
  names: Names,
  { source, marks }: Pick<StepPlace, "source" | "marks">,
  out: OutMap,
  refused: string | undefined,
  unit: string,
): boolean => {
  const condition = find(token, "if");
  if (!condition) return false;
  const line = lineOf(condition);
  try {
    if (refused !== undefined) throw new NoEqual(refused, "refused");
    const translation = translateCondition(conditionText(condition, source), names);
    if (translation !== "true") out.set("if", translation, `${unit}.if`);
    return false;
  } catch (error) {
    if (!(error instanceof NoEqual)) throw error;
    const original = source.lines(condition, line);
    out.say(marks.add(error.kind, `\`if\` with ${error.message} (this fails until you rewrite it)`, line, original));
    return true;
  }
};

/** Translates a step that runs here, or returns the comment that replaces it. */
export const translateStep = (
  step: ReadStep,
  place: StepPlace,
  unit: string,
  withdrawn: ReadonlyMap<string, string>,
  commands?: Commands,
): OutMap | Comment => {
  const { source, marks } = place;
  const line = lineOf(step.token);
  const original = source.lines(step.token, line);
  const refused = withdrawn.get(unit);
  if (refused !== undefined) return marks.add("refused", `a step (${refused})`, line, original);
  if (step.kind === "later") {
    const { kind, hint } = LATER_ACTIONS[step.action.toLowerCase()]!;
    return marks.add(kind, hint === undefined ? step.action : `${step.action} (${hint})`, line, original);
  }
  if (step.kind === "lost") return lost(step, marks, line, original);
  const before = marks.list.length;
  try {
    return runStep(step, place, unit, withdrawn, commands);
  } catch (error) {
    if (!(error instanceof NoEqual)) throw error;
    marks.list.length = before;
    return marks.add(error.kind, `a step with ${error.message}`, line, original);
  }
};

const lost = ({ token, action, refusal }: ReadStep, marks: Marks, line: number, original: string[]): Comment => {
  const waiting = ["wait", "wait-all", "cancel", "parallel"].find((key) => find(token, key));
  if (waiting !== undefined) return marks.add("unknown", `a step with \`${waiting}\``, line, original);
  if (/^actions\/checkout$/i.test(action)) return marks.add("checkout", "another checkout", line, original);
  if (/^actions\/github-script$/i.test(action)) return marks.add("action-script", action, line, original);
  if (action.startsWith("./")) return marks.add("template", refusal ?? action, line, original);
  return marks.add("action", action, line, original);
};
