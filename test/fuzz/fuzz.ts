import * as fc from "fast-check";
import { describeApi } from "../../src/api/description/describe.ts";
import { EXAMPLES } from "../../src/api/description/examples.ts";
import type { ApiDescription } from "../../src/api/description/schemas.ts";
import { ROUTES } from "../../src/api/routes.ts";
import { answerChecker } from "../support/answer-checker.ts";
import type { ServedWorker } from "../support/served-worker.ts";
import { requestTemplates } from "./request-templates.ts";
import { type Finding, Sequence } from "./sequence.ts";
import { Values } from "./values.ts";

const SEQUENCE_LENGTH = 250;
const CONCURRENCY = 8;
const MAX_FINDINGS = 20;

export interface FuzzResult {
  requests: number;
  statuses: Record<string, number>;
  findings: Finding[];
  /** Operations that never succeeded, so that their answers were not checked. */
  neverAccepted: string[];
}

const DESCRIPTION: ApiDescription = JSON.parse(JSON.stringify(describeApi(ROUTES, EXAMPLES)));

interface FuzzOptions {
  seed: number;
  requests: number;
  /** What requests are made from and answers are compared with. */
  description?: ApiDescription;
  onProgress?: (done: number) => void;
}

/**
 * Sends random requests, made from the description, and checks every answer and what is stored in the end. Requests
 * are the same for the same seed, their order among the concurrent sequences is not.
 */
export const fuzz = async (
  service: ServedWorker,
  { seed, requests, onProgress, description = DESCRIPTION }: FuzzOptions,
): Promise<FuzzResult> => {
  const templates = requestTemplates(description, new Values(description));
  const check = answerChecker(description);
  const statuses: Record<string, number> = {};
  const findings: Finding[] = [];
  const operations = Object.values(description.paths).flatMap((methods) => Object.values(methods));
  const neverAccepted = new Set(operations.map(({ operationId }) => operationId));
  const sequences = Math.ceil(requests / SEQUENCE_LENGTH);
  let next = 0;
  let done = 0;
  const runWorker = async (): Promise<void> => {
    while (next < sequences && findings.length < MAX_FINDINGS) {
      const number = next++;
      const sequence = new Sequence(service, check, `fuzz-${seed}-${number}`);
      await sequence.setUp();
      const begun = new Date().toISOString();
      const sample = fc.sample(templates, { seed: seed + number, numRuns: SEQUENCE_LENGTH });
      for (const [turn, template] of sample.entries()) await sequence.send(template, turn);
      await sequence.checkStoredData(begun);
      findings.push(...sequence.findings);
      for (const [status, count] of sequence.statuses) statuses[status] = (statuses[status] ?? 0) + count;
      for (const operation of sequence.acceptedOperations) neverAccepted.delete(operation);
      done += SEQUENCE_LENGTH;
      onProgress?.(done);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, runWorker));
  const sent = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  return { requests: sent, statuses, findings, neverAccepted: [...neverAccepted] };
};
