import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";
import { documented } from "./src/api/description/documented-route.ts";
import { problemsOf } from "./src/api/description/responses.ts";
import { ROUTES } from "./src/api/routes.ts";
import { buildAssets } from "./src/assets/build.ts";
import { recordingHosts } from "./test/support/recording-host/recording-hosts.ts";

await buildAssets();

const PLAIN = ["test/domain/**/*.test.ts", "test/agent/**/*.test.ts", "test/hosts/**/*.test.ts"];
const HOUSE = ["test/house/**/*.test.ts"];
const END_TO_END = ["test/e2e/**/*.test.ts"];
/** In CI a test of real processes gets a second try: one slow answer of a busy machine is no finding. */
const RETRY = process.env.CI ? 1 : 0;

/** Three kinds of test: plain programs, the service inside workerd, and the whole from outside. */
export default defineConfig(async () => ({
  test: {
    silent: "passed-only" as const,
    // Much of what these tests do is to wait for processes of their own.
    maxWorkers: 3,
    projects: [
      {
        test: {
          name: "plain",
          include: PLAIN,
          globalSetup: ["./test/support/set-up/agent.ts"],
          testTimeout: 180_000,
          retry: RETRY,
        },
      },
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              outboundService: recordingHosts(),
              bindings: {
                OPERATOR_TOKEN: "mro_test_operator_token_of_the_tests_000000",
                TOKEN_KEYS: `k1:${btoa("token key of the tests, 32 bytes")}`,
                SECRETS_KEYS: `s1:${btoa("sealing key of the tests, 32 by.")}`,
                CLONE_PROTOCOLS: "https,ssh,file",
                TEST_MIGRATIONS: await readD1Migrations("migrations"),
                // Inside workerd routes have no documentation.
                TEST_PROBLEMS: Object.fromEntries(ROUTES.map((route) => [route.id, problemsOf(documented(route))])),
              },
            },
          }),
        ],
        test: {
          name: "workerd",
          include: ["test/**/*.test.ts"],
          exclude: [...PLAIN, ...HOUSE, ...END_TO_END, "**/node_modules/**"],
          setupFiles: ["./test/support/apply-migrations.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      { test: { name: "house", include: HOUSE } },
      {
        test: {
          name: "e2e",
          include: END_TO_END,
          // Each runs a service, agents and git: more than two at once on two cores, and calls time out.
          sequence: { groupOrder: 1 },
          maxWorkers: 2,
          globalSetup: ["find-chromium", "set-up/agent", "set-up/service"].map((name) => `./test/support/${name}.ts`),
          testTimeout: 480_000,
          hookTimeout: 480_000,
          retry: RETRY,
        },
      },
    ],
  },
}));
