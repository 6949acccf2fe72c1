import { artifactPathProblem } from "../domain/artifact/chosen-paths.ts";
import { findSpans } from "../pipeline/expression/interpolation.ts";
import { DEFAULT_NAME, KeptInputs, OF_BUILD, OF_COMBINATION, shortName } from "./kept-inputs.ts";
import { NoEqual } from "./marks.ts";
import { type Names, withVariables } from "./names.ts";
import type { Commands } from "./set-up-rules.ts";
import type { Source } from "./source.ts";
import type { ReadStep } from "./step.ts";
import { translateUploadedPaths } from "./uploaded-paths.ts";

/*
 * Translates `actions/upload-artifact` to a step if the job's `artifacts` cannot: the name or condition depends on what
 * ran.
 */

/** Texts without a special meaning in a shell's double quotes. */
const PLAIN = /^[\w .@+,()=:*?!/-]*$/;
/** Texts that are one word, or a file pattern, outside quotes. */
const WORD = /^[\w.@+,=:*?/-]+$/;

const withoutExpressions = (text: string): string =>
  findSpans(text).spans.reduceRight((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), text);

/**
 * Writes a line for each path. Here a path without files would fail the job; on GitHub only on request. The script
 * therefore writes the lines only if the same paths have files, not counting hidden files.
 */
const commandsFor = (name: string, written: string[], searched: string[] | null, keepsHidden: boolean): string => {
  const lines = written.map((path) => `echo "${name}=${path}"`);
  const all = lines.length === 1 ? lines[0]! : ["{", ...lines.map((line) => `  ${line}`), "}"].join("\n");
  const kept = `${all} >> "$MILLRACE_ARTIFACT"`;
  if (searched === null) return kept;
  const visible = keepsHidden ? "" : ` -not -path '*/.*'`;
  const found = `find -L ${searched.join(" ")} -type f${visible} 2> /dev/null`;
  return `if [ -n "$(${found})" ]; then\n${kept.replaceAll(/^/gm, "  ")}\nfi`;
};

/** @throws {NoEqual} */
export const uploadCommands = (step: ReadStep, names: Names, source: Source): Commands => {
  const inputs = new KeptInputs(step, source);
  const written = withVariables(inputs.text("name") ?? DEFAULT_NAME, names);
  const name = shortName(written, OF_BUILD, OF_COMBINATION);
  const paths = inputs.paths();
  const isNeeded = inputs.fixed("if-no-files-found") === "error";
  const keepsHidden = inputs.fixed("include-hidden-files") === "true";
  inputs.pass("compression-level", "overwrite");
  inputs.end();
  const translated = translateUploadedPaths(paths, keepsHidden);
  // Below a hidden folder, the search would treat every file as hidden.
  const isSearchable = paths.every((path) => WORD.test(path) && !/^-|\*\*|\/\./.test(path));
  const isPlain = [withoutExpressions(name), ...translated].every((text) => PLAIN.test(text));
  const isInside = translated.every((path) => artifactPathProblem(path) === null);
  if (!isPlain || !isInside || (!isNeeded && !isSearchable))
    throw new NoEqual("a path that no step can name", "artifact");
  return { run: commandsFor(name, translated, isNeeded ? null : paths, keepsHidden) };
};
