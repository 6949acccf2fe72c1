import { toolName, versionProblem } from "../fields/tool-fields.ts";
import { LocatedMistake, type Position } from "../mistake.ts";
import type { Plan } from "../parse/plan.ts";
import { INITIAL_JOB_STATE, type JobContext } from "./job-context.ts";
import { StepEnvironment } from "./step-environment.ts";

/** A tool to set up. `position` is the position of its version in the file. */
interface ToolToSetUp {
  name: string;
  version: string;
  position: Position;
}

/**
 * Returns the tools of a plan, with the values of their expressions.
 * @throws {LocatedMistake} if an expression has no value, or its value is not a valid version
 */
export const prepareTools = (plan: Plan, context: JobContext): ToolToSetUp[] => {
  const { tools } = plan.job;
  if (tools === null || tools === "auto") return [];
  const environment = new StepEnvironment(plan, context, INITIAL_JOB_STATE);
  return tools.map(({ name, version, position }) => {
    const { text } = environment.render(version);
    const message = versionProblem(text);
    if (message === null) return { name: toolName(name), version: text, position };
    const expression = version.find((part) => typeof part !== "string");
    throw new LocatedMistake({ ...(expression?.positionAt(0) ?? position), message });
  });
};
