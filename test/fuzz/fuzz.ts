import * as fc from "fast-check";
import { describe } from "../../src/api/description/describe.ts";
import { EXAMPLES } from "../../src/api/description/examples.ts";
import type { Description } from "../../src/api/description/openapi.ts";
import { ROUTES } from "../../src/api/routes.ts";
import { answerChecker } from "../support/answer-checker.ts";
import type { ServedWorker } from "../support/served-worker.ts";
import { plans } from "./requests.ts";
import { Round, type Violation } from "./round.ts";
import { Values } from "./values.ts";

const ROUND = 250;
const AT_ONCE = 8;

export interface Fuzzed {
  requests: number;
  statuses: Record<string, number>;
  violations: Violation[];
  /** Operations that were never obeyed: nothing was learnt of their answers. */
  neverObeyed: string[];
}

const DESCRIPTION: Description = JSON.parse(JSON.stringify(describe(ROUTES, EXAMPLES)));

interface Fuzzing {
  seed: number;
  requests: number;
  /** What the answers are held to. */
  description?: Description;
  said?: (done: number) => void;
}

/** Sends so many requests made from the description by this seed, and judges every answer. */
export const fuzz = async (
  service: ServedWorker,
  { seed, requests, said, description = DESCRIPTION }: Fuzzing,
): Promise<Fuzzed> => {
  const arbitrary = plans(description, new Values(description));
  const check = answerChecker(description);
  const statuses: Record<string, number> = {};
  const violations: Violation[] = [];
  const operations = Object.values(description.paths).flatMap((methods) => Object.values(methods));
  const neverObeyed = new Set(operations.map(({ operationId }) => operationId));
  const rounds = Math.ceil(requests / ROUND);
  let next = 0;
  let done = 0;
  const hand = async (): Promise<void> => {
    while (next < rounds && violations.length < 20) {
      const number = next++;
      const round = new Round(service, check, `fuzz-${seed}-${number}`);
      await round.begin();
      const begun = new Date().toISOString();
      for (const [turn, plan] of fc.sample(arbitrary, { seed: seed + number, numRuns: ROUND }).entries()) {
        await round.send(plan, turn);
      }
      await round.end(begun);
      violations.push(...round.violations);
      for (const [status, count] of round.statuses) statuses[status] = (statuses[status] ?? 0) + count;
      for (const operation of round.obeyed) neverObeyed.delete(operation);
      done += ROUND;
      said?.(done);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, hand));
  const sent = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  return { requests: sent, statuses, violations, neverObeyed: [...neverObeyed] };
};
