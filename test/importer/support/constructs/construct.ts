/*
 * The constructs in docs/import.md's table. Each has jobs that print what they see in lines that begin with `> `, and
 * the page that documents GitHub's behaviour. Job keys are unique in their batch.
 */

export interface Construct {
  page: string;
  jobs: string;
  /** The remaining lines by job key, where the importer cannot translate everything. */
  left?: Record<string, string[]>;
  /** Whether the jobs succeed although a part is missing. */
  isGreen?: boolean;
}

export interface Batch {
  name: string;
  /** Keys at the top of the workflow. */
  top: string;
  constructs: Record<string, Construct>;
  /** The repository's files. */
  files?: Record<string, string>;
  /** Whether a person approves every deployment. */
  isApproved?: boolean;
  vars?: Record<string, string>;
}

/** Writes a step with an action. `inputs` is a mapping in one line. */
export const use = (action: string, inputs = "", more = ""): string =>
  `- uses: ${action}${more === "" ? "" : `\n${more}`}${inputs === "" ? "" : `\nwith: ${inputs}`}`;

/** Writes a job with these steps. Each is a script or a step's lines. */
export const job = (key: string, steps: string[], keys: string[] = []): string =>
  [
    `${key}:`,
    "  runs-on: ubuntu-latest",
    ...keys.map((line) => `  ${line}`),
    "  steps:",
    ...steps.flatMap((step) => {
      const lines = (step.startsWith("- ") ? step.slice(2) : `run: |\n  ${step.replaceAll("\n", "\n  ")}`).split("\n");
      return lines.map((line, index) => `    ${index === 0 ? "- " : "  "}${line}`);
    }),
  ].join("\n");

export const show = (text: string): string => `echo "> ${text}"`;
export const LIST = "find . -type f | sort | sed 's/^/> /'";

export const upload = (inputs: string, before = ""): string =>
  `- uses: actions/upload-artifact@v4\n${before}with:\n  ${inputs.replaceAll("\n", "\n  ")}`;
export const download = (name: string, path: string): string =>
  `- uses: actions/download-artifact@v4\nwith: { name: ${name}, path: ${path} }`;

/** Writes a job that uploads files, and a job that lists the downloaded files. */
export const handedOver = (key: string, files: string, inputs: string): string =>
  [
    job(`${key}-leave`, [
      `for f in ${files}; do mkdir -p "$(dirname "$f")"; echo "$f" > "$f"; done`,
      upload(`name: ${key}\n${inputs}`),
    ]),
    job(`${key}-get`, [download(key, "in"), LIST], [`needs: ${key}-leave`]),
  ].join("\n");
