import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";
import { documented } from "./src/api/description/operations.ts";
import { listProblems } from "./src/api/description/responses.ts";
import { ROUTES } from "./src/api/routes.ts";
import { buildAssets } from "./src/assets/build.ts";
import { recordingHosts } from "./test/support/recording-host/recording-hosts.ts";
import { storeInMemory } from "./test/support/storage-in.ts";

await buildAssets();

const LONG = "**/*.long.test.ts";
const PLAIN = ["domain", "mask", "pipeline", "githosts", "queue", "importer", "agent", "local"].map(
  (name) => `test/${name}`,
);
const HOUSE = ["test/house"];
const END_TO_END = ["test/e2e"];
/** `npm run test:profile` also asks how much of a test's time is waiting. */
const PROFILE = process.env.TEST_PROFILE === undefined ? [] : ["./test/profile/processor-time.ts"];
const OUTSIDE = [...PLAIN, ...HOUSE, ...END_TO_END].map((folder) => `${folder}/**`);
/** Files that change what the modules of the service hold, which the files after them would meet in one workerd. */
const ALONE = [
  // Plants columns into the tables before the services read them.
  "test/api/unknown-columns.test.ts",
];

/**
 * Three kinds of test: plain programs, the service inside workerd, and the whole from outside. `--mode long` runs the
 * files `*.long.test.ts`; without it all the others run. The rules of the repository have a configuration of their own.
 */
export default defineConfig(async ({ mode }) => {
  // Else wrangler says of each file inside workerd that the secrets are missing: here they are bindings.
  process.env.WRANGLER_LOG = "error";
  const isLong = mode === "long";
  const testsIn = (folders: string[], except: string[] = []) => ({
    include: folders.map((folder) => `${folder}/${isLong ? LONG : "**/*.test.ts"}`),
    exclude: ["**/node_modules/**", ...except, ...(isLong ? [] : [LONG])],
  });
  const workerd = {
    // As the modules are, which tests change.
    main: "./src/worker.ts",
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
        TEST_PROBLEMS: Object.fromEntries(ROUTES.map((route) => [route.id, listProblems(documented(route))])),
      },
    },
  };
  return {
    test: {
      silent: "passed-only" as const,
      // Much of what these tests do is to wait for processes of their own.
      maxWorkers: 3,
      projects: [
        {
          test: {
            name: "plain",
            ...testsIn(PLAIN),
            globalSetup: ["./test/support/set-up/agent.ts"],
            setupFiles: ["./test/support/set-up/seed.ts", ...PROFILE],
            // The files share no state: what one leaves in a module or a variable, it takes back.
            isolate: false,
            testTimeout: 180_000,
          },
        },
        ...[
          // A new workerd for each file would load the whole service again.
          { name: "workerd", isolate: false, ...testsIn(["test"], [...OUTSIDE, ...ALONE]) },
          { name: "workerd-alone", include: isLong ? [] : ALONE },
        ].map((project) => ({
          plugins: [
            cloudflareTest(() => {
              storeInMemory();
              return workerd;
            }),
          ],
          test: {
            ...project,
            setupFiles: ["./test/support/new-world.ts"],
            testTimeout: 120_000,
            hookTimeout: 120_000,
            expect: { poll: { timeout: 20_000 } },
          },
        })),
        {
          test: {
            name: "e2e",
            ...testsIn(END_TO_END),
            setupFiles: PROFILE,
            sequence: { groupOrder: 1 },
            // Files share what they load: each would load zod, Miniflare and more for a second otherwise.
            isolate: false,
            globalSetup: ["find-chromium", "set-up/agent", "set-up/service"].map((name) => `./test/support/${name}.ts`),
            expect: { poll: { interval: 150, timeout: 120_000 } },
            testTimeout: 480_000,
            hookTimeout: 480_000,
          },
        },
      ],
    },
  };
});
