/** What an App is made with, by GitHub's names: as GitHub shows it, and what it is for. */
export const APP_PERMISSION_WORDS: Record<string, [shown: string, reason: string]> = {
  checks: ["Checks: read and write", "to show builds as check runs, with their buttons"],
  statuses: ["Commit statuses: read and write", "to tell the states of builds where there are no check runs"],
  contents: ["Contents: read-only", "to clone, with a token of an hour that reads one repository"],
  merge_queues: ["Merge queues: read-only", "to hear what a merge queue tries"],
  metadata: ["Metadata: read-only", "to list repositories, and who may write to them"],
  pull_requests: ["Pull requests: read-only", "to hear of pull requests"],
};
