import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { describeApi } from "../../src/api/description/describe.ts";
import { EXAMPLES } from "../../src/api/description/examples.ts";
import type { ApiDescription } from "../../src/api/description/schemas.ts";
import { ROUTES } from "../../src/api/routes.ts";
import { byteSize, DEFAULTS, LIMITS, PERIODS, withCommas } from "../../src/protocol/limits.ts";
import { ORGANIZATION_LIMITS } from "../../src/protocol/organization.ts";
import { PIPELINE_DEFAULTS } from "../../src/protocol/pipeline.ts";

const read = (file: string): string => readFileSync(file, "utf8");

/** Returns the cells of a section's table, without its head. */
const tableOf = (page: string, section: string): string[][] => {
  const [, after = ""] = `\n${page}`.split(new RegExp(`\n##? ${section}\n`));
  const [body = ""] = after.split("\n## ");
  const rows = body.split("\n").filter((line) => line.startsWith("|"));
  const cells = rows.map((line) => line.slice(1, -1).split(/(?<!\\)\|/));
  return cells.slice(2).map((row) => row.map((cell) => cell.trim()));
};

/** The "limit" column in docs/limits.md, keyed by the first column. */
const DOCUMENTED_LIMITS: Record<string, string> = {
  "a request's body": byteSize(LIMITS.bodyBytes),
  "a chunk of a log": byteSize(LIMITS.logChunkBytes),
  "a build's log": byteSize(LIMITS.logBytes),
  "a variable's value": `${byteSize(LIMITS.valueBytes)} of UTF-8`,
  "variables of an organization": withCommas(LIMITS.variables),
  "builds of an organization in a day (UTC)": withCommas(ORGANIZATION_LIMITS.buildsPerDay),
  "artifacts and caches of an organization": `${ORGANIZATION_LIMITS.storedBytes / 2 ** 40} TiB`,
  "requests of an organization's tokens, hooks, agents in a minute": [1, 1, 2]
    .map((keys) => withCommas(keys * ORGANIZATION_LIMITS.requestsPerMinute))
    .join(", "),
  "tokens, connections, repositories of an organization": [
    ORGANIZATION_LIMITS.tokens,
    ORGANIZATION_LIMITS.connections,
    ORGANIZATION_LIMITS.repositories,
  ]
    .map(withCommas)
    .join(", "),
  "pipelines, groups of an organization": `${withCommas(ORGANIZATION_LIMITS.pipelines)}, ${withCommas(ORGANIZATION_LIMITS.groups)}`,
  "active variables of a build": withCommas(LIMITS.activeVariables),
  "composed environment of a build": byteSize(LIMITS.environmentBytes),
  "`envVariables` of a build, as JSON": byteSize(LIMITS.envVariablesBytes),
  "`envVariables` of all active builds of an organization, sealed": byteSize(LIMITS.sealedInputsCharacters),
  [`ended builds with more than ${byteSize(LIMITS.largeInputsCharacters)} of \`envVariables\``]: `the newest ${withCommas(LIMITS.largeInputsKept)}`,
  "groups of a pipeline, labels": `${LIMITS.groups}, ${LIMITS.labels}`,
  "waiting jobs, agents of an organization": `${withCommas(LIMITS.waitingJobs)}, ${withCommas(LIMITS.agents)}`,
  "agents of one registration token": withCommas(LIMITS.registeredAgents),
  "open sockets and waiting polls of an agent": String(LIMITS.agentSockets),
  "messages of one socket in a minute, without pings": String(LIMITS.socketMessagesPerMinute),
  "followers of one log by one token": String(LIMITS.followers),
  "steps of a build, characters of a step's name and id": `${LIMITS.steps}, ${LIMITS.stepNameCharacters}`,
};

/** Each setting's default in `wrangler.toml`. */
const settings = new Map(
  [...read("wrangler.toml").matchAll(/^([A-Z_]+) = "([^"]*)"$/gm)].map((match) => [match[1] ?? "", match[2] ?? ""]),
);
const setting = (name: string): string => settings.get(name) ?? `no ${name}`;

/** Quotes of the table and the settings in the documents: the number and the word after it. */
const QUOTES: [file: string, ...quotes: string[]][] = [
  [
    "docs/api.md",
    `pages of ${DEFAULTS.pageLength}`,
    `by ${DEFAULTS.newestPageLength}, newest first`,
    `(1 to ${LIMITS.pageLength})`,
  ],
  ["docs/agent.md", `${withCommas(LIMITS.registeredAgents)} agents`, `${setting("AGENT_DAYS")} days (\`AGENT_DAYS\`)`],
  ["docs/costs.md", `at most ${withCommas(LIMITS.agents)}`, `${setting("BUILD_DAYS")} days`],
  ["docs/deploy.md", `(${setting("AGENT_DAYS")}, when left out)`],
  [
    "docs/pipelines.md",
    `\`${PIPELINE_DEFAULTS.configPath}\``,
    `1 to ${LIMITS.steps} steps`,
    `1 to ${LIMITS.timeoutSeconds / 60}`,
    `${withCommas(LIMITS.summaryCharacters)} characters`,
  ],
  ["docs/rotation.md", `${DEFAULTS.rewrapBatch} by default`, `${LIMITS.rewrapBatch} at most`],
  [
    "docs/security.md",
    `${withCommas(LIMITS.registeredAgents)} agents at most`,
    `${PERIODS.longestSessionDays} days`,
    `${setting("AUDIT_DAYS")} days`,
  ],
];

describe("the documented limits", () => {
  it("match the code in docs/limits.md", () => {
    const rows = tableOf(read("docs/limits.md"), "Limits").map(([what, limit]) => [what, limit]);
    expect(Object.fromEntries(rows)).toEqual(DOCUMENTED_LIMITS);
  });

  it.each(QUOTES)("match the code in %s", (file, ...quotes) => {
    const text = read(file);
    expect(quotes.filter((quote) => !text.includes(quote))).toEqual([]);
  });

  it("fail the check if the table lacks one", () => {
    expect(tableOf("\n## Limits\n| what | limit |\n| - | - |\n| a log | 1 MiB |\n\n## Next\n| x |", "Limits")).toEqual([
      ["a log", "1 MiB"],
    ]);
  });
});

const API = JSON.parse(JSON.stringify(describeApi(ROUTES, EXAMPLES))) as ApiDescription;

/** Schemas and fields in the API's description that may quote a number, and the expected quotes. */
const FIELDS: Record<string, string | number> = {
  AgentStatus: PERIODS.onlineSeconds,
  Definition: LIMITS.definitionCharacters,
  Labels: LIMITS.labels,
  Value: byteSize(LIMITS.valueBytes),
  "Agent.isOnline": PERIODS.onlineSeconds,
  "BuildTrigger.priority": LIMITS.priority,
  "Finish.exitCode": LIMITS.exitCode,
  "Finish.message": LIMITS.messageCharacters,
  "NewPipeline.maxAttempts": LIMITS.attempts,
  "NewPipeline.maxParallel": LIMITS.parallelBuilds,
  "NewPipeline.timeoutSeconds": LIMITS.timeoutSeconds,
  "Progress.masks": LIMITS.maskCharacters,
  "Release.reason": LIMITS.releaseReasonCharacters,
  "Rewrap.limit": LIMITS.rewrapBatch,
  "TokenRotation.graceSeconds": LIMITS.graceSeconds,
};

describe("the limits in the API's description", () => {
  it.each(Object.entries(FIELDS))("quote the right number, if any: %s, %s", (path, limit) => {
    const [name = "", field] = path.split(".");
    const schema = API.components.schemas[name];
    const text = String((field === undefined ? schema : schema?.properties?.[field])?.description);
    expect(text).not.toBe("undefined");
    if (/\d{2}/.test(text)) expect(text).toContain(typeof limit === "number" ? withCommas(limit) : limit);
  });

  it("match the code in the introduction", () => {
    const text = String((API.info as { description: string }).description);
    const sizes = [byteSize(LIMITS.bodyBytes), byteSize(LIMITS.valueBytes)];
    const quoted = text.match(/\d+ [KM]iB/g) ?? [];
    expect(quoted.filter((size) => !sizes.includes(size))).toEqual([]);
    const requests = text.match(/[\d,]+(?= requests a minute)/)?.[0] ?? setting("TOKEN_REQUESTS_PER_MINUTE");
    expect(requests.replaceAll(",", "")).toBe(setting("TOKEN_REQUESTS_PER_MINUTE"));
    expect(text).toContain(`pages of ${DEFAULTS.pageLength} records`);
  });
});

describe("the documented settings", () => {
  it("are all in docs/deploy.md, with the defaults in wrangler.toml", () => {
    const rows = tableOf(read("docs/deploy.md"), "Settings").flatMap(([names = "", values = ""]) => {
      const defaults = names.includes("(secret)") ? [] : values.replaceAll("`", "").split(/,\s+/);
      const found = [...names.matchAll(/`([A-Z_]+)`/g)].map((match) => match[1] ?? "");
      return defaults.length === 0 ? [] : found.map((name, index) => [name, defaults[index]] as const);
    });
    const written = new Map(rows.map(([name, value]) => [name, value === "none" ? "" : value]));
    expect(Object.fromEntries(written)).toEqual(Object.fromEntries(settings));
  });

  it("have the platform's rate limits", () => {
    const counted = [...read("wrangler.toml").matchAll(/^simple = \{ limit = (\d+), period = 60 \}$/gm)];
    const told = [
      setting("TOKEN_REQUESTS_PER_MINUTE"),
      setting("AGENT_REQUESTS_PER_MINUTE"),
      String(LIMITS.deliveriesPerMinute),
      String(ORGANIZATION_LIMITS.requestsPerMinute),
    ];
    expect(counted.map((match) => match[1])).toEqual([...told, ...told]);
  });

  it("are the same on staging, which has its own database, bucket and rate limits", () => {
    const text = read("wrangler.toml");
    const varsOf = (name: string) => new RegExp(`^\\[${name}\\]\n((?:\\w.*\n|#.*\n)*)`, "m").exec(text)?.[1] ?? "";
    const settings = (name: string) =>
      varsOf(name)
        .split("\n")
        .filter((line) => line && !line.startsWith("#"));
    expect(settings("vars").length).toBeGreaterThan(9);
    expect(settings("env.staging.vars")).toEqual(settings("vars"));
    const own = [...text.matchAll(/^(?:namespace_id|bucket_name|database_name) = "([^"]*)"$/gm)].map(([, id]) => id);
    expect(new Set(own).size).toBe(own.length);
  });
});
