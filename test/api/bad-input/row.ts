import type { ProblemKind } from "../../../src/protocol/problem.ts";

/** One bad request, and the exact refusal of it. */
export interface Row {
  is: string;
  as?: () => string;
  method?: string;
  path: string | (() => string);
  body?: object | string | (() => object);
  headers?: () => Record<string, string>;
  status: number;
  kind: ProblemKind;
  pointer?: string;
}
