import { defineConfig } from "vitest/config";

/** The rules of the repository. They only read, so that all of them share one worker, which loads the API once. */
export default defineConfig({
  test: {
    name: "house",
    include: ["test/house/**/*.test.ts"],
    silent: "passed-only",
    maxWorkers: 1,
    isolate: false,
    testTimeout: 60_000,
  },
});
