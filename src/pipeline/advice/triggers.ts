/* What other systems write below `on`, and what to write here instead. */

const BY_HAND = "The API and the dashboard start a build by hand: leave it out";
const NO_IGNORE = "A pattern with ! takes away: write '**', then '!' and the pattern";

/** Keys of `on`. */
export const ON_KEY_ADVICE = new Map([
  ["pull_request", "Write `pull`"],
  ["merge_request", "Write `pull`"],
  ["merge_requests", "Write `pull`"],
  ["merge_group", "Write `merge-group`"],
  ["pull_request_target", "There is none: a fork's build never gets secrets. Write `pull`"],
  ["branches", "Write it below `push`"],
  ["paths", "Write it below `push` or `pull`"],
  ["tags", "Write `tag: true`, or `tag: { names: [...] }`"],
  ["release", "Write `tag`"],
  ["schedule", "Write `schedule` at the top of the file, beside `on`"],
  ["cron", "Write `schedule` at the top of the file, beside `on`"],
  ["workflow_dispatch", BY_HAND],
  ["repository_dispatch", BY_HAND],
  ["workflow_call", BY_HAND],
  ["web", BY_HAND],
  ["api", BY_HAND],
  ["manual", BY_HAND],
]);

/** Keys of `push`, `tag` and `pull`. */
export const EVENT_KEY_ADVICE = new Map([
  ["tags", "Tags have a key of their own: write `tag: { names: [...] }` below `on`"],
  ["branches-ignore", NO_IGNORE],
  ["tags-ignore", NO_IGNORE],
  ["paths-ignore", NO_IGNORE],
  ["types", "Leave it out: a pull request is built when it is opened, and for each new head, label and base"],
]);
