import recorded from "./examples.json" with { type: "json" };
import type { ApiDescription, Media, Operation, Response } from "./schemas.ts";

/** The sender of an example's request. */
export type Sender = "operator" | "admin" | "registration" | "agent";

/** A request and its answer. The tests resend all of them, in this order, to the real service. */
export interface Example {
  /** The request's operationId. */
  operation: string;
  summary: string;
  as?: Sender;
  id?: string;
  parts?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: unknown;
  status: number;
  /** The answer, as JSON or text. Absent if the answer has no body. */
  answer?: unknown;
}

/** The service's answers as `npm run examples` last recorded them. */
export const EXAMPLES = recorded as Example[];

const add = (media: Media | undefined, { operation, summary, status }: Example, value: unknown): void => {
  if (!media || value === undefined) return;
  media.examples ??= {};
  media.examples[`${operation}-${status}-${Object.keys(media.examples).length + 1}`] = { summary, value };
};

const firstMedia = (content: Record<string, Media> | undefined): Media | undefined => Object.values(content ?? {})[0];

type Responses = Record<string, Response>;

/** Returns the response with this status: the operation's own, or the shared one that it refers to. */
const findResponse = (operation: Operation, status: number, shared: Responses): Response | undefined => {
  const response = operation.responses[status];
  return response && "$ref" in response ? shared[response.$ref.split("/").at(-1) ?? ""] : response;
};

/** Adds each example to its operation, as the request's body and the answer. */
export const attachExamples = (paths: ApiDescription["paths"], shared: Responses, examples: Example[]): void => {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  for (const example of examples) {
    const operation = operations.find(({ operationId }) => operationId === example.operation);
    if (!operation) throw new Error(`The example ${example.operation} has no operation of that name`);
    if (example.status < 400) add(firstMedia(operation.requestBody?.content), example, example.body);
    add(firstMedia(findResponse(operation, example.status, shared)?.content), example, example.answer);
  }
};
