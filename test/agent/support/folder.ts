import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** An empty folder that is removed after the test. */
export const testFolder = (): string => {
  const path = mkdtempSync(join(tmpdir(), "millrace-test-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
};
