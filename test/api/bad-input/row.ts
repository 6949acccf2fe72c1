import type { ProblemKind } from "../../../src/protocol/problem.ts";

/** A bad request and its exact refusal. */
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
