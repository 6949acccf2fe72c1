import { parsePlan } from "../domain/plan/parse.ts";
import type { FieldError } from "./refusal.ts";
import { Refusal } from "./refusal.ts";

/** What an inline definition must be before it is kept. @throws Refusal with a line and column for each mistake */
export const checkDefinition = (definition: string | null | undefined): void => {
  if (definition == null) return;
  const { mistakes = [] } = parsePlan(definition);
  const errors: FieldError[] = mistakes.map(({ line, column, message, suggestion }) => ({
    pointer: "/definition",
    detail: `${line}:${column}: ${message}${suggestion === undefined ? "" : ` (did you mean ${suggestion}?)`}`,
  }));
  if (errors.length > 0) throw new Refusal("invalid", "The definition is not valid: see errors.", { errors });
};
