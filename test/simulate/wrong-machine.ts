import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { plant } from "../support/plant.ts";
import { MUTANTS } from "./mutants.ts";

/*
 * For wrong rules in the source, the simulation is loaded a second time. There, a file with such rules is a list of its
 * functions: a call goes to the original file, or to the file with the active wrong rule. A mutant therefore loads one
 * file, and the rest of the machine is warm.
 */

const REPOSITORY = new URL("../../", import.meta.url).href;
const FILES = new Set(MUTANTS.flatMap(({ rules }) => rules.planted?.file ?? []));

const textOf = (file: string): string => readFileSync(new URL(file, REPOSITORY).pathname, "utf8");

/** The file with the active wrong rule, and its module. */
const inForce: { file: string; module: object } = { file: "", module: {} };
Object.assign(globalThis, { wrongRuleInForce: inForce });

const EXPORT = /^export (?:const|class|function) (\w+)(.*)$/gm;
const FUNCTION = /^(?:class|function)|= (?:async )?(?:<\w+>)?\(/;

/** Functions and classes of the active file, and constants. */
const callsOf = (file: string): string => {
  const right = JSON.stringify(`${REPOSITORY}${file}?right`);
  const lines = [...textOf(file).matchAll(EXPORT)].map(([line, name]) =>
    FUNCTION.test(line.slice("export ".length))
      ? `export function ${name}(...given) { return new.target ? new (now().${name})(...given) : now().${name}(...given); }`
      : `export { ${name} } from ${right};`,
  );
  const now = `(globalThis.wrongRuleInForce.file === ${JSON.stringify(file)} ? globalThis.wrongRuleInForce.module : right)`;
  return [`import * as right from ${right};`, `const now = () => ${now};`, ...lines].join("\n");
};

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const isOwn = found.url.startsWith(REPOSITORY) && !found.url.includes("/node_modules/");
    const isMore = isOwn && !found.url.includes("?") && context.parentURL?.includes("?");
    return isMore ? { ...found, url: `${found.url}?planted` } : found;
  },
  load(url, context, next) {
    const [address = "", mark = ""] = url.split("?");
    const file = address.slice(REPOSITORY.length);
    const planted = MUTANTS[Number(/^mutant=(\d+)$/.exec(mark)?.[1])]?.rules.planted;
    if (planted) return { ...next(url, context), source: plant(textOf(file), planted) };
    if (mark !== "planted" || !FILES.has(file)) return next(url, context);
    return { format: "module", source: callsOf(file), shortCircuit: true };
  },
});

/** Returns the exports of a simulation module, with the machine of the mutant at this index: one at a time. */
export const ofMutant = async <Module>(module: Module, address: string, mutant = -1): Promise<Module> => {
  const { planted } = MUTANTS[mutant]?.rules ?? {};
  if (!planted) return module;
  inForce.module = await import(`${REPOSITORY}${planted.file}?mutant=${mutant}`);
  inForce.file = planted.file;
  return import(`${address}?planted`);
};
