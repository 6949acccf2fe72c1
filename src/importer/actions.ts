import { parseFile } from "../pipeline/parse/parse.ts";
import type { MarkKind } from "./marks.ts";
import type { StepFate } from "./names.ts";

/** Keys of a job that steps with these actions become. */
export type KeepingKey = "artifacts" | "downloads" | "cache";

export const KEEPING_ACTIONS: Record<string, KeepingKey> = {
  "actions/cache": "cache",
  "actions/cache/restore": "cache",
  "actions/cache/save": "cache",
  "actions/upload-artifact": "artifacts",
  "actions/download-artifact": "downloads",
};

export const keepingKey = (action: string): KeepingKey => KEEPING_ACTIONS[action.toLowerCase()]!;

/* Actions whose equivalent a person has to write. */

interface LaterWord {
  kind: MarkKind;
  /** A note for that person. */
  hint?: string;
  /** What later steps can expect of this step. */
  fate: StepFate;
}

const all = (word: LaterWord, ...actions: string[]): Record<string, LaterWord> =>
  Object.fromEntries(actions.map((action) => [action, word]));

/**
 * Actions that report results to people or services, or prepare the machine. The importer translates no step for them,
 * and later steps still run.
 */
export const LATER_ACTIONS: Record<string, LaterWord> = {
  ...all(
    { kind: "report-elsewhere", fate: "lost" },
    "codecov/codecov-action",
    "codecov/test-results-action",
    "coverallsapp/github-action",
    "codacy/codacy-coverage-reporter-action",
    "paambaati/codeclimate-action",
    "qltysh/qlty-action/coverage",
    "github/codeql-action/upload-sarif",
    "8398a7/action-slack",
    "actions/labeler",
    "marocchino/sticky-pull-request-comment",
    "peter-evans/create-or-update-comment",
    "rtcamp/action-slack-notify",
    "slackapi/slack-github-action",
    "discord-actions/message",
  ),
  ...all(
    { kind: "unknown", fate: "lost", hint: "name its files in `reports: { junit: ... }` of the job" },
    "dorny/test-reporter",
    "mikepenz/action-junit-report",
    "enricomi/publish-unit-test-result-action",
    "test-summary/action",
    "sonicgarden/rspec-report-action",
  ),
  ...all(
    { kind: "machine", fate: "lost" },
    "jlumbroso/free-disk-space",
    "step-security/harden-runner",
    "easimon/maximize-build-space",
    "mxschmitt/action-tmate",
    "styfle/cancel-workflow-action",
    "docker/setup-buildx-action",
    "docker/setup-qemu-action",
    "microsoft/setup-msbuild",
    "rui314/setup-mold",
    "nttld/setup-ndk",
  ),
};

const isKnown = (text: string): boolean => parseFile(text).mistakes === undefined;

/** Whether this release's pipeline language has these keys. The importer writes known keys and marks unknown ones. */
export const KNOWS = {
  tools: isKnown("tools: { node: '24' }\nsteps: [{ run: make }]\n"),
};
