import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Creates an empty folder and removes it after the test. */
export const testFolder = (): string => {
  const path = mkdtempSync(join(tmpdir(), "millrace-test-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
};
