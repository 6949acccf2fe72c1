import type { MarkKind, Marks } from "./marks.ts";
import { type Comment, OutMap } from "./out.ts";
import type { Commands } from "./set-up-rules.ts";
import { find, isExpression, type Pair, type Source, tokenText, type WorkflowToken } from "./source.ts";

/* `actions/checkout`, as what the job says of the agent's own checkout. */

/** Inputs that change nothing of what lies in the folder. */
const HARMLESS = new Set([
  "token",
  "persist-credentials",
  "set-safe-directory",
  "show-progress",
  "clean",
  "ssh-strict",
  "ssh-user",
]);

/** Ways to name the commit that is built here anyway. */
const BUILT =
  /^(?:\$\{\{\s*github\.(?:sha|ref|ref_name|head_ref|event\.pull_request\.head\.(?:sha|ref)|head_ref\s*\|\|\s*github\.(?:ref|ref_name|sha)|event\.pull_request\.head\.sha\s*\|\|\s*github\.sha)\s*\}\})?$/;

const OWN = /^(?:\$\{\{\s*github\.repository\s*\}\})?$/;
/** What a pull request's commit is of, and nothing in other builds: with the commit that is one checkout, without it another. */
const OF_HEAD = /^\$\{\{\s*github\.event\.pull_request\.head\.repo\.full_name(?:\s*\|\|\s*github\.repository)?\s*\}\}$/;

const textsOf = (inputs: Pair[], source: Source): Map<string, string> =>
  new Map(inputs.map(({ key, value }) => [key, tokenText(value, source).trim()]));

const isOtherCommit = (inputs: Pair[], source: Source): boolean => {
  const { ref = "", repository = "" } = Object.fromEntries(textsOf(inputs, source));
  return !BUILT.test(ref) || !(OWN.test(repository) || (ref !== "" && OF_HEAD.test(repository)));
};

/** Whether it fetches another commit, or to another place, than the agent does. */
export const isOtherCheckout = (inputs: Pair[], source: Source): boolean => {
  const { path = "" } = Object.fromEntries(textsOf(inputs, source));
  return isOtherCommit(inputs, source) || (path !== "" && path !== ".");
};

/**
 * Commands that look at no file of the folder they run in: what they print or install is the same before the checkout
 * and after it. What git itself reads would change the checkout.
 */
const BLIND =
  /^(?:#.*|(?:set|export) [^`|;&<>]*|echo [^`|;&<>]*(?:>>? ?"?\$\{?GITHUB_(?:ENV|OUTPUT|PATH|STEP_SUMMARY)\}?"?)?|sudo (?:apt|apt-get) (?:-\S+ )*(?:update|install)( [^`|;&<>./]*)?|df( -\S+)*|env|printenv|date|uname( -\S+)*|)$/;

const isBlind = (script: string): boolean =>
  script
    .replaceAll(/\\\n\s*/g, " ")
    .split(/\n|&&/)
    .every((line) => BLIND.test(line.trim()) && !/\$\(|[*?[]|\bGIT_/.test(line));

/** Whether a step before the checkout may do something else where the checkout is there already. */
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
      // The whole history is that of all branches and tags there.
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

/** A branch, tag or commit, and a folder of the checkout: each one word of a shell. */
const REF = /^[\w.][\w./-]*$/;
const FOLDER = /^(?!.*(?:^|\/)\.\.(?:\/|$))[\w.][\w./-]*$/;

/** Inputs that say more than which commit is fetched into which folder. */
const others = (inputs: Pair[]): Pair[] =>
  inputs.filter(({ key }) => key === "token" || !(HARMLESS.has(key) || /^(?:ref|repository|path)$/.test(key)));

/** What puts the commit that is built into a folder of the checkout; undefined for any other checkout. */
const worktreeCommands = (inputs: Pair[], source: Source): Commands | undefined => {
  const { path = "" } = Object.fromEntries(textsOf(inputs, source));
  const folder = path.replace(/^\$\{\{\s*github\.workspace\s*\}\}\//, "").replace(/^\.\//, "");
  if (!FOLDER.test(folder) || isOtherCommit(inputs, source) || others(inputs).length > 0) return undefined;
  return { run: `git worktree add --detach ${folder} HEAD` };
};

/** What fetches another repository into a folder; undefined where more than that is asked for. */
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

/** A checkout beside that of the agent, as commands, with the mark that it needs. */
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
