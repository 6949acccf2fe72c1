import type { MarkKind, Marks } from "./marks.ts";
import { type Comment, OutMap } from "./out.ts";
import type { Commands } from "./set-up-rules.ts";
import { find, isExpression, type Pair, type Source, tokenText, type WorkflowToken } from "./source.ts";

/* Translates `actions/checkout` to settings of the agent's own checkout. */

/** Inputs that do not change the folder's contents. */
const HARMLESS = new Set([
  "token",
  "persist-credentials",
  "set-safe-directory",
  "show-progress",
  "clean",
  "ssh-strict",
  "ssh-user",
]);

/** Expressions for the commit that the build has anyway. */
const BUILT =
  /^(?:\$\{\{\s*github\.(?:sha|ref|ref_name|head_ref|event\.pull_request\.head\.(?:sha|ref)|head_ref\s*\|\|\s*github\.(?:ref|ref_name|sha)|event\.pull_request\.head\.sha\s*\|\|\s*github\.sha)\s*\}\})?$/;

const OWN = /^(?:\$\{\{\s*github\.repository\s*\}\})?$/;
/** A pull request's repository; empty in other builds. The checkout is the usual one only with the same commit. */
const OF_HEAD = /^\$\{\{\s*github\.event\.pull_request\.head\.repo\.full_name(?:\s*\|\|\s*github\.repository)?\s*\}\}$/;

const textsOf = (inputs: Pair[], source: Source): Map<string, string> =>
  new Map(inputs.map(({ key, value }) => [key, tokenText(value, source).trim()]));

const isOtherCommit = (inputs: Pair[], source: Source): boolean => {
  const { ref = "", repository = "" } = Object.fromEntries(textsOf(inputs, source));
  return !BUILT.test(ref) || !(OWN.test(repository) || (ref !== "" && OF_HEAD.test(repository)));
};

/** Reports whether the step fetches another commit than the agent does, or fetches to another folder. */
export const isOtherCheckout = (inputs: Pair[], source: Source): boolean => {
  const { path = "" } = Object.fromEntries(textsOf(inputs, source));
  return isOtherCommit(inputs, source) || (path !== "" && path !== ".");
};

/**
 * Commands that read no file of their folder: they print or install the same before and after the checkout. Variables
 * that git itself reads would change the checkout.
 */
const BLIND =
  /^(?:#.*|(?:set|export) [^`|;&<>]*|echo [^`|;&<>]*(?:>>? ?"?\$\{?GITHUB_(?:ENV|OUTPUT|PATH|STEP_SUMMARY)\}?"?)?|sudo (?:apt|apt-get) (?:-\S+ )*(?:update|install)( [^`|;&<>./]*)?|df( -\S+)*|env|printenv|date|uname( -\S+)*|)$/;

const isBlind = (script: string): boolean =>
  script
    .replaceAll(/\\\n\s*/g, " ")
    .split(/\n|&&/)
    .every((line) => BLIND.test(line.trim()) && !/\$\(|[*?[]|\bGIT_/.test(line));

/** Reports whether a step before the checkout may behave differently when the checkout already exists. */
export const mayLook = ({ kind, token }: { kind: string; token: WorkflowToken }, source: Source): boolean => {
  if (kind === "checkout" || kind === "keeping") return false;
  const script = find(token, "run");
  return !script || !isBlind(tokenText(script, source));
};

interface TranslatedCheckout {
  checkout: OutMap;
  comments: Comment[];
}

export const translateCheckout = (inputs: Pair[], source: Source, marks: Marks): TranslatedCheckout => {
  const checkout = new OutMap();
  const comments: Comment[] = [];
  let tags: boolean | undefined;
  for (const { key, value, line } of inputs) {
    const text = tokenText(value, source).trim();
    const noEqual = () => comments.push(marks.add("action-input", `\`${key}: ${text}\` of actions/checkout`, line));
    if (HARMLESS.has(key) || key === "ref" || key === "repository" || key === "path") continue;
    if (isExpression(value)) noEqual();
    else if (key === "fetch-depth" && /^\d{1,6}$/.test(text)) {
      if (Number(text) !== 1) checkout.set("depth", Number(text));
      // On GitHub, the whole history includes all branches and tags.
      if (Number(text) === 0) tags ??= true;
    } else if (key === "submodules" && /^(?:true|false|recursive)$/.test(text))
      checkout.set("submodules", text === "recursive" ? text : text === "true");
    else if (key === "lfs" && /^(?:true|false)$/.test(text)) checkout.set("lfs", text === "true");
    else if (key === "fetch-tags" && /^(?:true|false)$/.test(text)) tags = text === "true" || tags;
    else noEqual();
  }
  checkout.set("fetch-tags", tags);
  return { checkout, comments };
};

/** A branch, tag or commit, and a folder in the checkout. Each is one shell word. */
const REF = /^[\w.][\w./-]*$/;
const FOLDER = /^(?!.*(?:^|\/)\.\.(?:\/|$))[\w.][\w./-]*$/;

/** Returns the inputs that say more than the commit and the folder. */
const others = (inputs: Pair[]): Pair[] =>
  inputs.filter(({ key }) => key === "token" || !(HARMLESS.has(key) || /^(?:ref|repository|path)$/.test(key)));

/** Returns commands that put the build's commit into a folder of the checkout; undefined for any other checkout. */
const worktreeCommands = (inputs: Pair[], source: Source): Commands | undefined => {
  const { path = "" } = Object.fromEntries(textsOf(inputs, source));
  const folder = path.replace(/^\$\{\{\s*github\.workspace\s*\}\}\//, "").replace(/^\.\//, "");
  if (!FOLDER.test(folder) || isOtherCommit(inputs, source) || others(inputs).length > 0) return undefined;
  return { run: `git worktree add --detach ${folder} HEAD` };
};

/** Returns commands that clone another repository into a folder; undefined if the inputs require more. */
const cloneCommands = (inputs: Pair[], source: Source): Commands | undefined => {
  const {
    repository = "",
    path = "",
    ref = "HEAD",
    "fetch-depth": depth = "1",
  } = Object.fromEntries(textsOf(inputs, source));
  const isPlain = /^[\w-]+\/[\w.-]+$/.test(repository) && FOLDER.test(path) && path !== "." && REF.test(ref);
  const isMore = others(inputs).some(({ key }) => key !== "fetch-depth");
  if (!isPlain || isMore || !/^\d{1,6}$/.test(depth)) return undefined;
  const depthOption = depth === "0" ? "" : ` --depth ${depth}`;
  const lines = [
    `git init -q ${path}`,
    `git -C ${path} fetch -q${depthOption} https://github.com/${repository} ${ref}`,
    `git -C ${path} checkout -q FETCH_HEAD`,
  ];
  return { run: lines.join("\n") };
};

interface CheckoutInFolder {
  kind: MarkKind;
  commands: Commands;
}

/** Translates an additional checkout to commands, with the mark that it needs. */
export const checkoutInFolder = (
  { action, inputs }: { action: string; inputs: Pair[] },
  source: Source,
): CheckoutInFolder | undefined => {
  if (!/^actions\/checkout$/i.test(action)) return undefined;
  const again = worktreeCommands(inputs, source);
  if (again) return { kind: "checkout-again", commands: again };
  const commands = cloneCommands(inputs, source);
  return commands && { kind: "clone", commands };
};

/** Reports whether a step reads the job's own folder for temporary files. */
export const readsTemp = ({ step: { token }, source }: { step: { token: WorkflowToken }; source: Source }): boolean =>
  /runner\.temp\b|RUNNER_TEMP\b/.test(source.lines(token).join("\n"));

/** Creates the step that sets the variables with folders, which no expression can name. */
export const settingStep = (variables: ReadonlyMap<string, string>, isElsewhere: boolean): OutMap =>
  new OutMap()
    .set("name", "Variables with folders")
    .set("working-directory", isElsewhere ? "." : undefined)
    .set("run", [...variables].map(([key, value]) => `echo "${key}=${value}" >> "$MILLRACE_ENV"`).join("\n"));
