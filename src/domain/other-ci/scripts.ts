/* Commands by which a script speaks to another CI system. Here they would silently do nothing, so they are mistakes. */

const SPEAKS = "write `NAME=value` to";

/** Files of GitHub Actions, by the variables that name them. */
const FILES = new Map([
  ["GITHUB_OUTPUT", `Outputs go another way here: ${SPEAKS} "$MILLRACE_OUTPUT"`],
  ["GITHUB_ENV", `Variables for later steps go another way here: ${SPEAKS} "$MILLRACE_ENV"`],
  ["GITHUB_STATE", `Variables for later steps go another way here: ${SPEAKS} "$MILLRACE_ENV"`],
  ["GITHUB_PATH", 'The path for later steps goes another way here: write "PATH=folder:$PATH" to "$MILLRACE_ENV"'],
  ["GITHUB_STEP_SUMMARY", 'The summary goes another way here: write it to "$MILLRACE_SUMMARY"'],
]);

/** Commands that a step prints, and programs of another system's agent. */
const COMMANDS = new Map([
  ["::add-mask::", 'Nothing is masked by this: write the value to "$MILLRACE_MASK"'],
  ["::set-output", `Nothing is set by this: ${SPEAKS} "$MILLRACE_OUTPUT"`],
  ["::set-env", `Nothing is set by this: ${SPEAKS} "$MILLRACE_ENV"`],
  ["::save-state", `Nothing is set by this: ${SPEAKS} "$MILLRACE_ENV"`],
  ["::add-path::", 'Nothing is set by this: write "PATH=folder:$PATH" to "$MILLRACE_ENV"'],
  ["##vso[task.setsecret", 'Nothing is masked by this: write the value to "$MILLRACE_MASK"'],
  ["##vso[task.setvariable", `Nothing is set by this: ${SPEAKS} "$MILLRACE_OUTPUT" or "$MILLRACE_ENV"`],
  ["##vso[task.prependpath", 'Nothing is set by this: write "PATH=folder:$PATH" to "$MILLRACE_ENV"'],
  ["##vso[task.uploadsummary", 'Nothing is shown by this: write the summary to "$MILLRACE_SUMMARY"'],
  ["buildkite-agent redactor", 'Nothing is masked by this: write the value to "$MILLRACE_MASK"'],
  ["buildkite-agent meta-data", `This is another system's agent: ${SPEAKS} "$MILLRACE_OUTPUT"`],
  ["buildkite-agent env", `This is another system's agent: ${SPEAKS} "$MILLRACE_ENV"`],
  ["buildkite-agent secret", "This is another system's agent: write `${{ secrets.NAME }}` under `env`"],
  ["buildkite-agent annotate", 'This is another system\'s agent: write the text to "$MILLRACE_SUMMARY"'],
  ["buildkite-agent artifact", "This is another system's agent, and there are no artifacts here yet"],
  ["buildkite-agent pipeline", "This is another system's agent, and a file's steps are all there are"],
]);

const escaped = (text: string): string => text.replaceAll(/[[\]().*+?^$|\\]/g, "\\$&");

const NAME = [...FILES.keys()].join("|");
const IDIOMS = new RegExp(
  [
    ...[...COMMANDS.keys()].map((command) => escaped(command) + (/\w$/.test(command) ? "\\b" : "")),
    `\\$\\{(?:${NAME})\\}`,
    `\\$(?:env:)?(?:${NAME})\\b`,
    `process\\.env\\.(?:${NAME})\\b`,
    `(?:environ(?:\\.get)?|getenv|process\\.env)[[(]["'](?:${NAME})["']`,
  ].join("|"),
  "g",
);
const FILE = new RegExp(NAME);

/** A command for another system. It is no mistake when the file itself sets `variable`. */
export interface Idiom {
  offset: number;
  advice: string;
  variable: string | null;
}

/** Most idioms reported in one script. */
const MAX_IDIOMS = 200;

/** The idioms of other systems in a script, except those in comments. */
export const idiomsIn = (script: string): Idiom[] =>
  [...script.matchAll(IDIOMS)].slice(0, MAX_IDIOMS).flatMap((match) => {
    const line = script.slice(script.lastIndexOf("\n", match.index) + 1, match.index);
    if (/^\s*(?:#(?!#)|\/\/)/.test(line)) return [];
    const variable = FILE.exec(match[0])?.[0] ?? null;
    return [{ offset: match.index, advice: (FILES.get(variable ?? "") ?? COMMANDS.get(match[0]))!, variable }];
  });
