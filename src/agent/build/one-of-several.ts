import { createHash } from "node:crypto";
import { hashedText } from "../../pipeline/parse/included-files.ts";
import { parsePlan } from "../../pipeline/parse/parse.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Fetched } from "../checkout/checkout.ts";
import { pipelineText } from "../checkout/commit-file.ts";
import { type ParsedWithIncludes, parseInCommit } from "../checkout/included-files.ts";
import type { OneOfSeveral } from "../wire/answers.ts";
import { BuildFailure } from "./failure.ts";

/* A planned job: what sets it apart from a first job. */

const inOneLine = (text: string): string => text.replaceAll(/[\x00-\x1f\x7f]/g, " ").toWellFormed();

/** Its first lines in the log. */
export const jobHeader = ({ key, name, matrix }: OneOfSeveral): string => {
  const values = Object.entries(matrix ?? {}).map(([axis, value]) => `${axis}=${value}`);
  const title = name === key ? key : `${key}: ${name}`;
  return [`Job ${inOneLine(title)}`, ...(values.length > 0 ? [`matrix ${inOneLine(values.join(", "))}`] : [])].join(
    "\n",
  );
};

/** The MILLRACE_* variables that only planned jobs have. */
export const jobVariables = ({ id, key, definition, name, matrix }: OneOfSeveral): Record<string, string> => ({
  MILLRACE_JOB: inOneLine(definition),
  MILLRACE_JOB_ID: id,
  MILLRACE_JOB_KEY: inOneLine(key),
  MILLRACE_JOB_NAME: inOneLine(name),
  MILLRACE_MATRIX: matrix === null ? "" : JSON.stringify(matrix),
});

/**
 * The file that the job's plan was made from, with all that it includes, as the commit itself has them: whatever an
 * agent said that it read. @throws BuildFailure plan-mismatch
 */
export const comparedFile = async (
  { path, hash }: OneOfSeveral,
  definition: string | null,
  fetched: Fetched,
): Promise<ParsedWithIncludes & { text: string }> => {
  const where = path === null ? "the pipeline's definition" : `${path} of commit ${fetched.commitSha}`;
  const differs = (): BuildFailure =>
    new BuildFailure(
      "plan-mismatch",
      `${where} is not what the jobs of this build were planned from: nothing of it ran`,
    );
  const text = path === null ? (definition ?? "") : textInCommit(fetched, path, differs);
  const read = path === null ? { parsed: parsePlan(text), includes: [] } : await parseInCommit(text, fetched);
  if (createHash("sha256").update(hashedText(text, read.includes)).digest("hex") !== hash) throw differs();
  return { text, ...read };
};

const textInCommit = (fetched: Fetched, path: string, differs: () => BuildFailure): string => {
  try {
    return pipelineText(fetched, path, LIMITS.definitionCharacters);
  } catch (error) {
    throw error instanceof BuildFailure ? differs() : error;
  }
};
