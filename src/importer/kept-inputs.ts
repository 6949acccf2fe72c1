import { ActionInputs } from "./action-inputs.ts";
import { keepingKey } from "./actions.ts";
import { NoEqual } from "./marks.ts";
import type { Source } from "./source.ts";
import type { ReadStep } from "./step.ts";

export const DEFAULT_NAME = "artifact";

/** Values that are the same in the whole build. An artifact belongs to its build here, so its name omits them. */
export const OF_BUILD = /\$\{\{\s*github\.(?:sha|run_id|run_number|run_attempt)\s*\}\}/gi;
/** Values that distinguish a matrix's combinations. Here each combination has its own folder. */
export const OF_COMBINATION = /\$\{\{\s*(?:matrix(?:\.[\w-]+)+|runner\.(?:os|arch)|strategy\.job-index)\s*\}\}/gi;

/** Returns a name without the matches of `pattern` and the signs around them. */
export const shortName = (name: string, ...patterns: RegExp[]): string => {
  const short = patterns.reduce((text, pattern) => text.replaceAll(pattern, "\0"), name);
  if (short === name) return name;
  const parts = short.split(/[\s._-]*\0[\s._-]*/).filter((one) => one !== "");
  return parts.length === 0 ? DEFAULT_NAME : parts.join("-");
};

/** The inputs of a step that keeps files. */
export class KeptInputs extends ActionInputs {
  constructor({ action, inputs }: ReadStep, source: Source) {
    super(inputs, source, keepingKey(action) === "cache" ? "cache" : "artifact");
  }

  lines(key: string): string[] {
    const lines = (this.text(key) ?? "").split("\n").map((line) => line.trim());
    return lines.filter((line) => line !== "" && !line.startsWith("#"));
  }

  /** Returns paths in the checkout. */
  paths(): string[] {
    return this.lines("path").map((line) => {
      const path = line.replace(/^(!?)(?:\$\{\{\s*github\.workspace\s*\}\}\/|\.\/)/, "$1");
      if (path.includes("${{")) throw new NoEqual(`the path ${line}`, this.kind);
      return path;
    });
  }

  /** Rejects unread inputs: they change what the step does. */
  end(): void {
    for (const { key } of this.rest()) throw new NoEqual(`\`${key}\``, this.kind);
  }
}
