import type { Example } from "./example.ts";
import type { Description, Media, Operation, Response } from "./openapi.ts";

const add = (media: Media | undefined, { operation, summary, status }: Example, value: unknown): void => {
  if (!media || value === undefined) return;
  media.examples ??= {};
  media.examples[`${operation}-${status}-${Object.keys(media.examples).length + 1}`] = { summary, value };
};

const mediaOf = (content: Record<string, Media> | undefined): Media | undefined => Object.values(content ?? {})[0];

type Responses = Record<string, Response>;

/** The answer with this status: a refusal stands among the shared ones. */
const answerOf = (operation: Operation, status: number, shared: Responses): Response | undefined => {
  const response = operation.responses[status];
  return response && "$ref" in response ? shared[response.$ref.split("/").at(-1) ?? ""] : response;
};

/** Puts each example at its operation: the body that is sent, and the answer that comes. */
export const attachExamples = (paths: Description["paths"], shared: Responses, examples: Example[]): void => {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  for (const example of examples) {
    const operation = operations.find(({ operationId }) => operationId === example.operation);
    if (!operation) throw new Error(`There is an example of ${example.operation}, but no such operation`);
    if (example.status < 400) add(mediaOf(operation.requestBody?.content), example, example.body);
    add(mediaOf(answerOf(operation, example.status, shared)?.content), example, example.answer);
  }
};
