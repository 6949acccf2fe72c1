import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { settingProblems } from "../config.ts";
import { ROOT } from "./service.ts";

/** What a command printed, and whether it ended well. */
export interface Ran {
  isOk: boolean;
  printed: string;
}
export type Wrangler = (...args: string[]) => Promise<Ran>;

/** One thing a deployment needs; `mend` says what to type where it is missing. */
export interface Finding {
  what: string;
  isOk: boolean;
  mend?: string;
}

const SECRETS = ["OPERATOR_TOKEN", "TOKEN_KEYS", "SECRETS_KEYS"];
const LIMITS = ["TOKEN", "AGENT"];

const limitsAgree = (settings: string): boolean =>
  LIMITS.every((name) => {
    const [, limit] = new RegExp(`name = "${name}_RATE"[^[]*?limit = (\\d+)`).exec(settings) ?? [];
    const [, told] = new RegExp(`^${name}_REQUESTS_PER_MINUTE = "(\\d+)"`, "m").exec(settings) ?? [];
    return limit !== undefined && limit === told;
  });

/** The settings under [vars]. */
const varsIn = (settings: string): Record<string, string> => {
  const [, vars = ""] = /^\[vars\]$([\s\S]*?)(?=^\[|(?![\s\S]))/m.exec(settings) ?? [];
  return Object.fromEntries([...vars.matchAll(/^(\w+) = "(.*)"/gm)].map(([, name, value]) => [name, value]));
};

const hasDatabase = (settings: string): boolean => {
  const [, id = ""] = /^database_id = "([0-9a-f-]{36})"/m.exec(settings) ?? [];
  return /[1-9a-f]/.test(id);
};

const secretNames = ({ isOk, printed }: Ran): string[] => {
  const [list] = /\[[\s\S]*\]/.exec(printed) ?? [];
  return isOk && list ? (JSON.parse(list) as { name: string }[]).map(({ name }) => name) : [];
};

/** Finds what is missing before a deployment fails half-way. What needs an account is asked only where there is one. */
export const checkDeployment = async (settings: string, wrangler: Wrangler): Promise<Finding[]> => {
  const problems = settingProblems(varsIn(settings));
  const findings: Finding[] = [
    {
      what: "the limits of requests are the same twice in wrangler.toml",
      isOk: limitsAgree(settings),
      mend: "make each limit under [[ratelimits]] the number that [vars] tells",
    },
    {
      what: "the settings under [vars] in wrangler.toml are valid and fit together",
      isOk: problems.length === 0,
      mend: problems.join(" "),
    },
    {
      what: "wrangler.toml names a database",
      isOk: hasDatabase(settings),
      mend: "npx wrangler d1 create millrace, then put the database_id it prints into wrangler.toml",
    },
  ];
  const bundled = await wrangler("deploy", "--dry-run");
  findings.push({
    what: "the Worker can be bundled",
    isOk: bundled.isOk,
    mend: "npx wrangler deploy --dry-run says why not",
  });
  const account = await wrangler("whoami");
  const isSignedIn = account.isOk && !/not authenticated/i.test(account.printed);
  findings.push({ what: "wrangler is signed in", isOk: isSignedIn, mend: "npx wrangler login" });
  if (!isSignedIn || !hasDatabase(settings)) return findings;
  const pending = await wrangler("d1", "migrations", "list", "millrace", "--remote");
  const isMigrated = pending.isOk && /no migrations to apply/i.test(pending.printed);
  findings.push({
    what: "the database has every migration",
    isOk: isMigrated,
    mend: "npx wrangler d1 migrations apply millrace --remote",
  });
  const names = secretNames(await wrangler("secret", "list", "--format", "json"));
  for (const name of SECRETS) {
    findings.push({
      what: `the secret ${name} is set`,
      isOk: names.includes(name),
      mend: `npx wrangler secret put ${name} (npm run keys makes values)`,
    });
  }
  return findings;
};

const wrangler: Wrangler = (...args) =>
  new Promise((resolve) => {
    const script = join(ROOT, "node_modules/wrangler/bin/wrangler.js");
    const env = { ...process.env, CI: "1", WRANGLER_SEND_METRICS: "false", NO_COLOR: "1" };
    execFile(process.execPath, [script, ...args], { cwd: ROOT, env }, (error, stdout, stderr) =>
      resolve({ isOk: error === null, printed: stdout + stderr }),
    );
  });

if (import.meta.main) {
  const findings = await checkDeployment(readFileSync(join(ROOT, "wrangler.toml"), "utf8"), wrangler);
  for (const { what, isOk, mend } of findings)
    console.log(isOk ? `ok       ${what}` : `missing  ${what}\n         ${mend}`);
  const missing = findings.filter(({ isOk }) => !isOk).length;
  console.log(
    missing === 0 ? "\nReady: npx wrangler deploy" : `\n${missing} missing. Mend the first one, then run this again.`,
  );
  process.exitCode = missing === 0 ? 0 : 1;
}
