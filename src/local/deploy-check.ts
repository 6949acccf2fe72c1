import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { settingProblems } from "../config.ts";
import { FEATURES } from "../protocol/jobs.ts";
import { ROOT } from "./service.ts";

/** The service's answer about a connection. */
interface Checked {
  name: string;
  problem: string | null;
  missing: string[];
  hooks: { fullName: string; problem: string | null }[];
}

const ask = async <T>(service: string, token: string, path: string): Promise<T | null> => {
  const answer = await fetch(new URL(path, service), { headers: { Authorization: `Bearer ${token}` } });
  if (answer.status === 403) return null;
  if (!answer.ok) throw new Error(`GET ${path} answered with ${answer.status}`);
  return (await answer.json()) as T;
};

/**
 * Compares the hooks that the service and each git host have. Returns null if the token is not a maintainer's.
 * @throws where the service does not answer
 */
export const checkHooks = async (service: string, token: string): Promise<Checked[] | null> => {
  const connections = await ask<{ id: string; name: string; isActive: boolean }[]>(
    service,
    token,
    "/connection?limit=100",
  );
  if (connections === null) return null;
  const active = connections.filter(({ isActive }) => isActive);
  const checks: Checked[] = [];
  // Run these in sequence, because each requests every hook from its host.
  for (const { id, name } of active) {
    const check = await ask<Omit<Checked, "name">>(service, token, `/connection/${id}/check`);
    if (check) checks.push({ ...check, name });
  }
  return checks;
};

/** Returns a sentence for each connection whose hooks at the host are outdated, deleted or unreadable. */
export const hookProblems = (checks: Checked[]): string[] =>
  checks.flatMap(({ name, problem, missing, hooks }) => {
    const old = hooks.filter((hook) => hook.problem !== null).map(({ fullName }) => fullName);
    const problems = [
      ...(problem === null ? [] : [problem]),
      ...missing,
      ...(old.length === 0 ? [] : [old.join(", ")]),
    ];
    return problems.length === 0 ? [] : [`${name}: ${problems.join(" ")}`];
  });

/** The part of an agent's record that describes its program. */
interface AgentRecord {
  name: string;
  features: string[];
}

const fetchPage = async (address: URL, token: string) => {
  const answer = await fetch(address, { headers: { Authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error(`GET /buildagent answered with ${answer.status}`);
  const next = /<([^>]+)>; rel="next"/.exec(answer.headers.get("Link") ?? "")?.[1];
  return { agents: (await answer.json()) as AgentRecord[], next: next ? new URL(next, address) : null };
};

/** Lists all agents of the token's organization. @throws where the service does not answer with a list */
export const fetchAgents = async (service: string, token: string): Promise<AgentRecord[]> => {
  const agents: AgentRecord[] = [];
  for (let page: URL | null = new URL("/buildagent", service); page; ) {
    const answer = await fetchPage(page, token);
    agents.push(...answer.agents);
    page = answer.next;
  }
  return agents;
};

/** Returns a sentence for each feature that some agents lack, with their names. */
export const missingFeatures = (agents: AgentRecord[]): string[] =>
  FEATURES.flatMap((feature) => {
    const without = agents.filter(({ features }) => !features.includes(feature)).map(({ name }) => name);
    return without.length === 0 ? [] : [`${feature}: ${without.join(", ")}`];
  });

/** The output of a command, and whether it succeeded. */
export interface WranglerResult {
  isOk: boolean;
  output: string;
}
type Wrangler = (...args: string[]) => Promise<WranglerResult>;

/** One requirement of a deployment. `fix` explains what to do if the requirement is not met. */
interface Finding {
  what: string;
  isOk: boolean;
  fix?: string;
}

const SECRETS = ["OPERATOR_TOKEN", "TOKEN_KEYS", "SECRETS_KEYS"];
const RATE_LIMITS = ["TOKEN", "AGENT"];

const limitsAgree = (settings: string): boolean =>
  RATE_LIMITS.every((name) => {
    const [, limit] = new RegExp(`name = "${name}_RATE"[^[]*?limit = (\\d+)`).exec(settings) ?? [];
    const [, setting] = new RegExp(`^${name}_REQUESTS_PER_MINUTE = "(\\d+)"`, "m").exec(settings) ?? [];
    return limit !== undefined && limit === setting;
  });

/** Reads the settings under [vars]. */
const varsIn = (settings: string): Record<string, string> => {
  const [, vars = ""] = /^\[vars\]$([\s\S]*?)(?=^\[|(?![\s\S]))/m.exec(settings) ?? [];
  return Object.fromEntries([...vars.matchAll(/^(\w+) = "(.*)"/gm)].map(([, name, value]) => [name, value]));
};

const hasDatabase = (settings: string): boolean => {
  const [, id = ""] = /^database_id = "([0-9a-f-]{36})"/m.exec(settings) ?? [];
  return /[1-9a-f]/.test(id);
};

const readBucketName = (settings: string): string => /^bucket_name = "([^"]+)"/m.exec(settings)?.[1] ?? "";

const secretNames = ({ isOk, output }: WranglerResult): string[] => {
  const [list] = /\[[\s\S]*\]/.exec(output) ?? [];
  return isOk && list ? (JSON.parse(list) as { name: string }[]).map(({ name }) => name) : [];
};

/** Finds missing parts of a deployment before it fails half-way. Without a sign-in, skips the checks of the account. */
export const checkDeployment = async (settings: string, wrangler: Wrangler): Promise<Finding[]> => {
  const problems = settingProblems(varsIn(settings));
  const findings: Finding[] = [
    {
      what: "wrangler.toml has the same rate limits in [[ratelimits]] and [vars]",
      isOk: limitsAgree(settings),
      fix: "set each limit under [[ratelimits]] to its REQUESTS_PER_MINUTE in [vars]",
    },
    {
      what: "wrangler.toml counts the requests of each organization",
      isOk: /^\[\[ratelimits\]\]\nname = "ORGANIZATION_RATE"/m.test(settings),
      fix: "copy [[ratelimits]] with the name ORGANIZATION_RATE from the wrangler.toml of this release",
    },
    {
      what: "the settings under [vars] in wrangler.toml are valid and fit together",
      isOk: problems.length === 0,
      fix: problems.join(" "),
    },
    {
      what: "wrangler.toml names a database",
      isOk: hasDatabase(settings),
      fix: "npx wrangler d1 create millrace, then put the database_id it prints into wrangler.toml",
    },
    {
      what: "wrangler.toml names a bucket for the archive",
      isOk: readBucketName(settings) !== "",
      fix: "put [[r2_buckets]] with binding ARCHIVE back into wrangler.toml",
    },
  ];
  const bundled = await wrangler("deploy", "--dry-run");
  findings.push({
    what: "the Worker can be bundled",
    isOk: bundled.isOk,
    fix: 'run npx wrangler deploy --env="" --dry-run to see why not',
  });
  const account = await wrangler("whoami");
  const isSignedIn = account.isOk && !/not authenticated/i.test(account.output);
  findings.push({ what: "wrangler is signed in", isOk: isSignedIn, fix: "npx wrangler login" });
  if (!isSignedIn || !hasDatabase(settings)) return findings;
  const bucket = readBucketName(settings);
  const buckets = await wrangler("r2", "bucket", "list");
  findings.push({
    what: `the R2 bucket ${bucket} exists`,
    isOk: buckets.isOk && new RegExp(`^name:\\s+${bucket}\\s*$`, "m").test(buckets.output),
    fix: `npx wrangler r2 bucket create ${bucket} (a new account first enables R2 in the dashboard)`,
  });
  const pending = await wrangler("d1", "migrations", "list", "millrace", "--remote");
  const isMigrated = pending.isOk && /no migrations to apply/i.test(pending.output);
  findings.push({
    what: "the database has every migration",
    isOk: isMigrated,
    fix: "npx wrangler d1 migrations apply millrace --remote",
  });
  const names = secretNames(await wrangler("secret", "list", "--format", "json"));
  for (const name of SECRETS) {
    findings.push({
      what: `the secret ${name} is set`,
      isOk: names.includes(name),
      fix: `npm run --silent keys > .secrets.env, then npx wrangler deploy --env="" --secrets-file .secrets.env`,
    });
  }
  return findings;
};

/**
 * Checks that every agent has the features that this release requires. Skips the check without MILLRACE_URL and
 * MILLRACE_TOKEN.
 */
const checkAgents = async ({ MILLRACE_URL: url, MILLRACE_TOKEN: token }: NodeJS.ProcessEnv): Promise<Finding[]> => {
  if (!url || !token) return [];
  const what = "every agent requests its environment and runs planned jobs";
  try {
    const missing = missingFeatures(await fetchAgents(url, token));
    return [{ what, isOk: missing.length === 0, fix: `update these agents. Without ${missing.join("; without ")}` }];
  } catch (error) {
    return [{ what, isOk: false, fix: `check that ${url} answers: ${(error as Error).message}` }];
  }
};

/**
 * Checks that git hosts send to addresses that the service accepts. Skips the check without MILLRACE_URL and
 * MILLRACE_TOKEN.
 */
const compareHooks = async ({ MILLRACE_URL: url, MILLRACE_TOKEN: token }: NodeJS.ProcessEnv): Promise<Finding[]> => {
  if (!url || !token) return [];
  const what = "git hosts have the current hooks: you can remove keys of TOKEN_KEYS that made older ones";
  try {
    const checks = await checkHooks(url, token);
    if (checks === null) return [];
    const problems = hookProblems(checks);
    return [{ what, isOk: problems.length === 0, fix: `POST /connection/{id}/rotate. ${problems.join("; ")}` }];
  } catch (error) {
    return [{ what, isOk: false, fix: `check that ${url} answers: ${(error as Error).message}` }];
  }
};

const wrangler: Wrangler = (...args) =>
  new Promise((resolve) => {
    const script = join(ROOT, "node_modules/wrangler/bin/wrangler.js");
    const env = { ...process.env, CI: "1", WRANGLER_SEND_METRICS: "false", NO_COLOR: "1" };
    execFile(process.execPath, [script, ...args], { cwd: ROOT, env }, (error, stdout, stderr) =>
      resolve({ isOk: error === null, output: stdout + stderr }),
    );
  });

if (import.meta.main) {
  const deployment = await checkDeployment(readFileSync(join(ROOT, "wrangler.toml"), "utf8"), wrangler);
  const findings = [...deployment, ...(await checkAgents(process.env)), ...(await compareHooks(process.env))];
  for (const { what, isOk, fix } of findings)
    console.log(isOk ? `ok       ${what}` : `missing  ${what}\n         ${fix}`);
  const missing = findings.filter(({ isOk }) => !isOk).length;
  console.log(
    missing === 0
      ? '\nReady: npx wrangler deploy --env=""'
      : `\n${missing} missing. Fix the first one, then run this again.`,
  );
  process.exitCode = missing === 0 ? 0 : 1;
}
