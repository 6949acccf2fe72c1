import {
  Binary,
  ContextAccess,
  type Expr,
  FunctionCall,
  Grouping,
  IndexAccess,
  Literal,
  Logical,
  Star,
  Unary,
} from "@actions/expressions/ast";
import { changedQuestion } from "../expression/changed.ts";
import type { JobDefinition, LocatedExpression, Plan } from "../parse/plan.ts";
import { plannedExpressions } from "../parse/plan-contents.ts";

/** Returns the direct children of a node in an expression's tree. */
const childrenOf = (node: Expr): Expr[] => {
  if (node instanceof IndexAccess) return node.index instanceof Star ? [node.expr] : [node.expr, node.index];
  if (node instanceof FunctionCall || node instanceof Logical) return node.args;
  if (node instanceof Unary) return [node.expr];
  if (node instanceof Grouping) return [node.group];
  return node instanceof Binary ? [node.left, node.right] : [];
};

/** The facts about the commit and the service that are necessary to plan the jobs of a file. */
export interface Questions {
  /** The `changed()` questions in conditions of jobs. `answerChanged` answers each. */
  changed: string[];
  /** Plain variables that expressions of the jobs themselves name. */
  vars: string[];
}

const allNodes = (root: Expr | null): Expr[] => (root ? [root, ...childrenOf(root).flatMap(allNodes)] : []);

const variableIn = (node: Expr): string[] =>
  node instanceof IndexAccess &&
  node.expr instanceof ContextAccess &&
  node.expr.name.lexeme === "vars" &&
  node.index instanceof Literal
    ? [node.index.literal.coerceString()]
    : [];

const questionIn = (node: Expr): string[] =>
  node instanceof FunctionCall && node.functionName.lexeme.toLowerCase() === "changed"
    ? [changedQuestion(node.args.map((arg) => (arg instanceof Literal ? arg.literal.coerceString() : "")))]
    : [];

const nodesIn = ({ expression }: LocatedExpression): Expr[] => allNodes(expression.root);

/** Returns the `changed()` questions in the condition of a job. */
export const questionsInCondition = (job: JobDefinition): string[] =>
  job.if ? nodesIn(job.if).flatMap(questionIn) : [];

const listExpressions = (plan: Plan): LocatedExpression[] =>
  (plan.jobs ?? []).flatMap((job) => [...(job.if ? [job.if] : []), ...plannedExpressions(job)]);

/** Returns the questions of a file's jobs. A file with only steps has no questions. */
export const collectQuestions = (plan: Plan): Questions => ({
  changed: [...new Set((plan.jobs ?? []).flatMap(questionsInCondition))],
  vars: [...new Set(listExpressions(plan).flatMap(nodesIn).flatMap(variableIn))],
});

/** Reports whether an expression may read `build.number`, also as `build[...]`, `build.*` and `toJSON(build)`. */
const readsNumber = (node: Expr): boolean => {
  if (node instanceof ContextAccess) return node.name.lexeme === "build";
  const property = node instanceof IndexAccess && node.expr instanceof ContextAccess ? node.index : null;
  if (property instanceof Literal && property.literal.coerceString() !== "number") return false;
  return childrenOf(node).some(readsNumber);
};

/** Reports whether the jobs of a file may read the build's number before they run. */
export const readsBuildNumber = (plan: Plan): boolean =>
  listExpressions(plan).some(({ expression: { root } }) => root !== null && readsNumber(root));
