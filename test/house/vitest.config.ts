import { defineConfig } from "vitest/config";

/** The repository's rules. They only read, so they all share one worker, which loads the API once. */
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
