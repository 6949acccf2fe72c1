import { inheritedBySteps } from "../../domain/env-names.ts";
import { jobVariables } from "../build/one-of-several.ts";
import { parseJson } from "../parse-json.ts";
import { buildVariables } from "../steps/step-environment.ts";
import type { JobAnswer } from "../wire/answers.ts";

/** In one line, without half characters: a name from outside that is a value here and nothing else. */
const inOneLine = (text: string): string => text.replaceAll(/[\x00-\x1f\x7f]/g, " ").toWellFormed();

const NAME = /^MILLRACE_[A-Z_]+$/;

/** The job's names, of which hooks are told, as MILLRACE_* variables. No variable of the build is among them. */
export const hookVariables = (job: JobAnswer, { name, url }: { name: string; url: string }): Record<string, string> => {
  const ofBuild = buildVariables(job, { commitSha: job.build.commitSha, base: null }, name, url);
  const named = { ...ofBuild, ...(job.job ? jobVariables(job.job) : {}) };
  return Object.fromEntries(Object.entries(named).map(([key, value]) => [key, inOneLine(value)]));
};

/** The variables in a note that an earlier agent left; none of what is no such variable. */
export const variablesIn = (note: string): Record<string, string> => {
  const read = parseJson(note);
  if (typeof read !== "object" || read === null) return {};
  return Object.fromEntries(
    Object.entries(read).flatMap(([key, value]) =>
      NAME.test(key) && typeof value === "string" ? [[key, inOneLine(value)]] : [],
    ),
  );
};

/** The whole environment of a hook: the agent's own without its secrets, and the job's names. */
export const hookEnvironment = (variables: Record<string, string>): Record<string, string> => {
  const own = Object.entries(process.env).flatMap(([name, value]) =>
    value !== undefined && inheritedBySteps(name) ? [[name, value] as const] : [],
  );
  return { ...Object.fromEntries(own), ...variables };
};
