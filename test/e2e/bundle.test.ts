import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ROUTES } from "../../src/api/routes.ts";
import { PROBLEMS } from "../../src/protocol/problem.ts";

/** The Worker as wrangler uploads it. */
const bundle = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-bundle-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  execFileSync("npx", ["wrangler", "deploy", "--dry-run", "--outdir", folder], { stdio: "pipe" });
  return readFileSync(join(folder, "worker.js"), "utf8");
};

it("the Worker carries no text of the API's description, which the assets have", () => {
  const worker = bundle();
  const texts = ROUTES.flatMap(({ documentation }) =>
    [documentation?.summary, documentation?.description].filter((text) => text !== undefined),
  );
  expect(texts.length).toBeGreaterThan(50);
  expect(texts.filter((text) => text.length > 20 && worker.includes(text))).toEqual([]);
  expect(worker).toContain(PROBLEMS["idempotency-mismatch"][1]);
});
