/** Who sends an example's request. */
export type Sender = "operator" | "admin" | "registration" | "agent";

/** One request and its answer. The tests replay all of them, in this order, against the real service. */
export interface Example {
  /** Its operationId. */
  operation: string;
  summary: string;
  as?: Sender;
  id?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: unknown;
  status: number;
  /** JSON, or text; absent where there is no body. */
  answer?: unknown;
}
