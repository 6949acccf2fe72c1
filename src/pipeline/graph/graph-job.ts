import { data } from "@actions/expressions";
import { groupBy } from "../../domain/group-by.ts";
import { mergeRequires, NO_WINDOWS } from "../../domain/requires.ts";
import { LABEL, LABEL_RULE } from "../../protocol/common.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Requires } from "../../protocol/pipeline.ts";
import type { EvaluationScope } from "../expression/evaluate.ts";
import { PLATFORMS } from "../fields/agent-fields.ts";
import { xcodeProblem } from "../fields/tool-fields.ts";
import { LocatedMistake, type Position } from "../mistake.ts";
import type { JobDefinition, LocatedExpression, Template } from "../parse/plan.ts";
import type { GraphJob, Matrix } from "./graph.ts";
import type { PlanScope } from "./plan-scope.ts";

/** Puts a value on one line, because a name made from a value must not break a log. */
const inOneLine = (value: string): string => value.replaceAll(/[\x00-\x1F\x7F-\x9F\u2028\u2029]+/g, " ");

/** Returns the beginning of a text, without an incomplete character at its end. */
const beginning = (text: string, characters: number): string =>
  text.slice(0, characters).replace(/[\uD800-\uDBFF]$/, "");

const keyWith = (definition: string, values: (string | boolean)[]): string =>
  beginning(inOneLine(`${definition} (${values.join(", ")})`), LIMITS.jobNameCharacters);

/**
 * Returns the keys of a definition's jobs, such as `test (26.10, phone)`, in the order of the combinations. A key has
 * the values of the axes, if these distinguish the combinations. Otherwise it has all values, and if necessary a
 * number.
 */
export const jobKeys = (definition: string, axes: readonly string[], combinations: readonly Matrix[]): string[] => {
  const short = combinations.map((one) => {
    const values = axes.flatMap((axis) => (Object.hasOwn(one, axis) ? [one[axis]!] : []));
    return keyWith(definition, values.length > 0 ? values : Object.values(one));
  });
  const counts = groupBy(short, (key) => key);
  const usedKeys = new Set<string>();
  return combinations.map((one, index) => {
    const alone = counts.get(short[index]!)!.length === 1;
    const key = alone ? short[index]! : keyWith(definition, Object.values(one));
    let unique = key;
    for (let number = 2; usedKeys.has(unique) || (unique !== short[index] && counts.has(unique)); number++)
      unique = `${key} #${number}`;
    usedKeys.add(unique);
    return unique;
  });
};

/** The facts that all jobs of a build share. */
interface Surroundings {
  requires: Requires;
  timeoutSeconds: number;
}

/** Evaluates one job's own fields, for one combination of its matrix. @throws {LocatedMistake} */
class JobMaker {
  readonly #definition: JobDefinition;
  readonly #plan: PlanScope;
  readonly #scope: EvaluationScope;

  constructor(definition: JobDefinition, matrix: Matrix | null, plan: PlanScope) {
    this.#definition = definition;
    this.#plan = plan;
    this.#scope = plan.forMatrix(matrix);
  }

  /** @throws {LocatedMistake} at the first expression of the template, or else at the job */
  #refuse(message: string, template: Template = [], position: Position = this.#definition.position): never {
    const expression = template.find((part) => typeof part !== "string");
    throw new LocatedMistake({ ...(expression?.positionAt(0) ?? position), message });
  }

  #flag(flag: boolean | LocatedExpression | null): boolean | null {
    if (flag === null || typeof flag === "boolean") return flag;
    const value = this.#plan.value(flag, this.#scope);
    const text = value.primitive ? value.coerceString() : "?";
    if (value.kind === data.Kind.Null || text === "false") return false;
    return text === "true" || this.#refuse("The result must be true or false", [flag]);
  }

  name(key: string): string {
    const { name } = this.#definition;
    if (name === null) return key;
    const jobName = inOneLine(this.#plan.text(name, this.#scope)).trim();
    if (jobName.length <= LIMITS.jobNameCharacters) return jobName || key;
    return this.#refuse(`The name of a job has at most ${LIMITS.jobNameCharacters} characters`, name);
  }

  requires(outer: Requires): Requires {
    const { platform, ios, android, web, labels, xcode } = this.#definition.job.requires;
    const merged = mergeRequires(outer, {
      platform:
        typeof platform === "object" && platform ? this.#platform(platform) : (platform as Requires["platform"]),
      ios: this.#flag(ios),
      android: this.#flag(android),
      web: this.#flag(web),
      labels: labels?.map((label) => this.#label(label)) ?? null,
      ...(xcode === null ? {} : { xcode: this.#xcode(xcode.version) }),
    });
    return merged ?? this.#refuse("The pipeline and this job require different platforms or Xcodes: no agent has both");
  }

  #platform(template: Template): Requires["platform"] {
    const platform = this.#plan.text(template, this.#scope);
    const match = PLATFORMS.find((one) => one === platform);
    const problem = platform === "windows" ? NO_WINDOWS : `The result must be one of: ${PLATFORMS.join(", ")}`;
    return match ?? this.#refuse(problem, template);
  }

  #xcode(template: Template): string {
    const version = this.#plan.text(template, this.#scope);
    const problem = xcodeProblem(version);
    return problem === null ? version : this.#refuse(problem, template);
  }

  #label(template: Template): string {
    const label = this.#plan.text(template, this.#scope);
    return LABEL.test(label) ? label : this.#refuse(`A label ${LABEL_RULE}`, template);
  }

  concurrency(): GraphJob["concurrency"] {
    const { concurrency } = this.#definition;
    if (!concurrency) return null;
    const { limit, whenBusy, position } = concurrency;
    const group = this.#plan.text(concurrency.group, this.#scope);
    if (group.length === 0 || group.length > LIMITS.concurrencyCharacters || group !== inOneLine(group).trim())
      return this.#refuse(
        `A group has 1 to ${LIMITS.concurrencyCharacters} characters in one line, no space around them`,
        concurrency.group,
        position,
      );
    return { group, limit, whenBusy };
  }

  gate(): GraphJob["gate"] {
    const { gate } = this.#definition;
    if (!gate) return null;
    const message = gate.message && this.#plan.text(gate.message, this.#scope);
    return { ...gate, message: message && beginning(message, LIMITS.gateMessageCharacters) };
  }

  mayFail(): boolean {
    return this.#flag(this.#definition.mayFail) ?? false;
  }
}

/** Creates one job of a build. @throws {LocatedMistake} */
export const graphJob = (
  definition: JobDefinition,
  { id, key, matrix }: { id: string; key: string; matrix: Matrix | null },
  { requires, timeoutSeconds }: Surroundings,
  plan: PlanScope,
): GraphJob => {
  const maker = new JobMaker(definition, matrix, plan);
  const { timeoutMinutes, steps } = definition.job;
  return {
    id,
    key,
    matrix,
    definition: definition.key,
    name: maker.name(key),
    needs: definition.needs.map(({ job, isOptional }) => ({ definition: job, isOptional })),
    condition: definition.if?.expression.text ?? null,
    mayFail: maker.mayFail(),
    failFast: definition.failFast,
    maxParallel: definition.maxParallel,
    concurrency: maker.concurrency(),
    gate: maker.gate(),
    groups: definition.groups,
    requires: maker.requires(requires),
    timeoutSeconds: Math.min(timeoutSeconds, timeoutMinutes === null ? Number.POSITIVE_INFINITY : timeoutMinutes * 60),
    ...(definition.retry > 0 && { retry: definition.retry }),
    hasSteps: steps.length > 0,
  };
};
