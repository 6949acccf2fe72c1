import { type KeepingKey, keepingKey } from "./actions.ts";
import { DEFAULT_NAME } from "./kept-inputs.ts";
import { NoEqual } from "./marks.ts";
import { find, type Source, tokenText } from "./source.ts";
import type { ReadStep } from "./step.ts";

/* The artifacts of a workflow: which jobs leave them, and which steps download them. */

/** An artifact that a job's step keeps, by its name as written. */
export interface UploadedArtifact {
  job: string;
  written: string;
  /**
   * How steps of the file download the artifact: by its name, or by a pattern. A download by name fails on GitHub if
   * the artifact is missing.
   */
  fetchedBy: "name" | "pattern" | null;
}

/** Artifacts from steps in other files: a local action or a called workflow. */
const UNKNOWN = "${{ unknown }}";

export const inputText = ({ inputs }: ReadStep, name: string, source: Source): string => {
  const input = inputs.find(({ key }) => key === name);
  return input ? tokenText(input.value, source).trim() : "";
};

/**
 * Reports whether an artifact's name fits a pattern.
 * @throws {NoEqual} if that depends on a computed part of the name
 */
export const fits = (pattern: string, written: string): boolean => {
  const [start = "", ...parts] = written.split(/\$\{\{.*?\}\}/);
  const signs = pattern.replaceAll(/[.*]/g, (sign) => (sign === "*" ? ".*" : "\\."));
  if (new RegExp(`^${signs}$`, "s").test([start, ...parts].join("\0"))) return true;
  const [first = ""] = pattern.split("*", 1);
  if (parts.length > 0 && (start.startsWith(first) || first.startsWith(start)))
    throw new NoEqual(`\`pattern: ${pattern}\`, which may match ${written}`, "artifact");
  return false;
};

const mayFit = (pattern: string, written: string): boolean => {
  try {
    return fits(pattern, written);
  } catch {
    return true;
  }
};

export const findArtifacts = (jobs: { key: string; steps: ReadStep[] }[], source: Source): UploadedArtifact[] => {
  const isOf = (key: KeepingKey) => (step: ReadStep) => step.kind === "keeping" && keepingKey(step.action) === key;
  const fetched = jobs.flatMap(({ steps }) => steps.filter(isOf("downloads")));
  const names = new Set(
    fetched.filter((step) => !mayFail(step, source)).map((step) => inputText(step, "name", source)),
  );
  const patterns = fetched.flatMap((step) =>
    inputText(step, "name", source) === "" ? [inputText(step, "pattern", source) || "*"] : [],
  );
  return jobs.flatMap(({ key: job, steps }) => {
    const written = steps.filter(isOf("artifacts")).map((step) => inputText(step, "name", source) || DEFAULT_NAME);
    const isOpen = steps.length === 0 || steps.some(({ action }) => action.startsWith("./"));
    return (isOpen ? [...written, UNKNOWN] : written).map((name) => ({
      ...{ job, written: name },
      fetchedBy: names.has(name) ? "name" : patterns.some((one) => mayFit(one, name)) ? "pattern" : null,
    }));
  });
};

const mayFail = ({ token }: ReadStep, source: Source): boolean => {
  const written = find(token, "continue-on-error");
  return written !== undefined && tokenText(written, source) === "true";
};
