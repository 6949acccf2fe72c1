import { PROBLEMS } from "../../protocol/problem.ts";
import type { Example } from "./example.ts";
import type { Description, Media, Operation, Response } from "./openapi.ts";

const add = (media: Media | undefined, { operation, summary, status }: Example, value: unknown): void => {
  if (!media || value === undefined) return;
  media.examples ??= {};
  media.examples[`${operation}-${status}-${Object.keys(media.examples).length + 1}`] = { summary, value };
};

const mediaOf = (content: Record<string, Media> | undefined): Media | undefined => Object.values(content ?? {})[0];

/** A refusal is shared by many operations: an example of one stands there as an answer of its own. */
const answerOf = (operation: Operation, status: number): Response | undefined => {
  const response = operation.responses[status];
  return response && !("$ref" in response) ? response : undefined;
};

/** Puts each example at its operation: the body that is sent, and the answer that comes. */
export const attachExamples = (paths: Description["paths"], examples: Example[]): void => {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  for (const example of examples) {
    const operation = operations.find(({ operationId }) => operationId === example.operation);
    if (!operation) throw new Error(`There is an example of ${example.operation}, but no such operation`);
    add(mediaOf(operation.requestBody?.content), example, example.body);
    add(mediaOf(answerOf(operation, example.status)?.content), example, example.answer);
  }
};

export const isProblem = (status: number): boolean => Object.values(PROBLEMS).some(([known]) => known === status);
