import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { BuildFailure } from "../../../src/agent/build/failure.ts";
import type { CheckoutContext, CheckoutSource } from "../../../src/agent/checkout/checkout.ts";
import { initRepository } from "../../../src/agent/checkout/remote.ts";
import { ProcessTree } from "../../../src/agent/process/process-tree.ts";
import { testFolder } from "./folder.ts";

/** A build id, unique for each test file: agents find processes by it. */
export const BUILD = crypto.randomUUID();
export const PLAIN = { depth: 1, submodules: "none", lfs: false, fetchTags: false } as const;

/** Creates a build's folders. */
export const makeCheckoutContext = async (): Promise<CheckoutContext> => {
  const folder = testFolder();
  const workspace = join(folder, "workspace");
  mkdirSync(workspace);
  await initRepository(workspace);
  // Ends processes that still read the repository.
  const end = new AbortController();
  onTestFinished(() => end.abort());
  return { workspace, tempFolder: folder, tree: new ProcessTree(BUILD), signal: end.signal };
};

export const sourceOf = (cloneUrl: string, change: Partial<CheckoutSource> = {}): CheckoutSource => ({
  branch: "main",
  commitSha: null,
  configPath: ".millrace.yml",
  repository: { fullName: "acme/mill", cloneUrl },
  ...change,
});

export const failureOf = async (work: Promise<unknown>): Promise<BuildFailure> => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(BuildFailure);
  return error as BuildFailure;
};
