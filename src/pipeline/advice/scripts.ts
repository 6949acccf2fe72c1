/*
 * Commands with which a script talks to another CI system. Here the commands would silently do nothing, so they are
 * mistakes.
 */

const SPEAKS = "write `NAME=value` to";

/** Files of GitHub Actions, by the variables that name them. */
const FILES = new Map([
  ["GITHUB_OUTPUT", `This does not set an output here: ${SPEAKS} "$MILLRACE_OUTPUT"`],
  ["GITHUB_ENV", `This does not set a variable for later steps here: ${SPEAKS} "$MILLRACE_ENV"`],
  ["GITHUB_STATE", `This does not set a variable for later steps here: ${SPEAKS} "$MILLRACE_ENV"`],
  ["GITHUB_PATH", 'This does not change the path of later steps here: write the folder to "$MILLRACE_PATH"'],
  ["GITHUB_STEP_SUMMARY", 'This does not write the summary here: write it to "$MILLRACE_SUMMARY"'],
]);

/** Commands that a step prints, and programs of another system's agent. */
const COMMANDS = new Map([
  ["::set-output", `This sets nothing here: ${SPEAKS} "$MILLRACE_OUTPUT"`],
  ["::set-env", `This sets nothing here: ${SPEAKS} "$MILLRACE_ENV"`],
  ["::save-state", `This sets nothing here: ${SPEAKS} "$MILLRACE_ENV"`],
  ["::add-path::", 'This sets nothing here: write the folder to "$MILLRACE_PATH"'],
  ["##vso[task.setsecret", 'This masks nothing here: write the value to "$MILLRACE_MASK"'],
  ["##vso[task.setvariable", `This sets nothing here: ${SPEAKS} "$MILLRACE_OUTPUT" or "$MILLRACE_ENV"`],
  ["##vso[task.prependpath", 'This sets nothing here: write the folder to "$MILLRACE_PATH"'],
  ["##vso[task.uploadsummary", 'This shows nothing here: write the summary to "$MILLRACE_SUMMARY"'],
  ["buildkite-agent redactor", 'This masks nothing here: write the value to "$MILLRACE_MASK"'],
  ["buildkite-agent meta-data", `This is another system's agent: ${SPEAKS} "$MILLRACE_OUTPUT"`],
  ["buildkite-agent env", `This is another system's agent: ${SPEAKS} "$MILLRACE_ENV"`],
  ["buildkite-agent secret", "This is another system's agent: write `${{ secrets.NAME }}` under `env`"],
  ["buildkite-agent annotate", 'This is another system\'s agent: write the text to "$MILLRACE_SUMMARY"'],
  ["buildkite-agent artifact", 'This is another system\'s agent: write `NAME=PATH` to "$MILLRACE_ARTIFACT"'],
  ["buildkite-agent pipeline", "This is another system's agent, and a running build cannot get more steps"],
]);

const escapePattern = (text: string): string => text.replaceAll(/[[\]().*+?^$|\\]/g, "\\$&");

const NAME = [...FILES.keys()].join("|");
const IDIOMS = new RegExp(
  [
    ...[...COMMANDS.keys()].map((command) => escapePattern(command) + (/\w$/.test(command) ? "\\b" : "")),
    `\\$\\{(?:${NAME})\\}`,
    `\\$(?:env:)?(?:${NAME})\\b`,
    `process\\.env\\.(?:${NAME})\\b`,
    `(?:environ(?:\\.get)?|getenv|process\\.env)[[(]["'](?:${NAME})["']`,
  ].join("|"),
  "g",
);
const FILE = new RegExp(NAME);

/** A command for another system. It is allowed if the file itself sets `variable`. */
interface Idiom {
  offset: number;
  advice: string;
  variable: string | null;
}

/** Maximum idioms to report in one script. */
const MAX_IDIOMS = 200;

/** Finds the idioms of other systems in a script, except those in comments. */
export const idiomsIn = (script: string): Idiom[] =>
  [...script.matchAll(IDIOMS)].slice(0, MAX_IDIOMS).flatMap((match) => {
    const line = script.slice(script.lastIndexOf("\n", match.index) + 1, match.index);
    if (/^\s*(?:#(?!#)|\/\/)/.test(line)) return [];
    const variable = FILE.exec(match[0])?.[0] ?? null;
    return [{ offset: match.index, advice: (FILES.get(variable ?? "") ?? COMMANDS.get(match[0]))!, variable }];
  });
