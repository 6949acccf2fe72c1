import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { DESCRIBED, findDocumentation } from "../../src/api/description/operations.ts";
import { PROBLEMS } from "../../src/protocol/problem.ts";
import { preparedService } from "../support/prepared-service.ts";

it("the Worker contains no text of the API description, which is in the assets", () => {
  // The file that wrangler uploads.
  const worker = readFileSync(preparedService()!.script, "utf8");
  const texts = DESCRIBED.map(findDocumentation).flatMap(({ summary, description = "" }) => [summary, description]);
  expect(texts.length).toBeGreaterThan(50);
  expect(texts.filter((text) => text.length > 20 && worker.includes(text))).toEqual([]);
  expect(worker).toContain(PROBLEMS["idempotency-mismatch"][1]);
});
