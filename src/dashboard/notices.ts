/** What a page says after a form was accepted. The list is closed: no link can make a page say anything else. */
const NOTICES: Record<string, string> = {
  canceled: "The build is being canceled.",
  "job-canceled": "The job is being canceled.",
  approved: "Approved.",
  rejected: "Rejected.",
  triggered: "The build is in the queue.",
  created: "Created.",
  saved: "Saved.",
  short: "Saved. This secret is so short that its mask hides much other text in logs.",
  "mask-text": "Saved. This secret looks like a mask: nobody sees in a log where it stands.",
  "common-word": "Saved. This secret is a common word: its mask hides much other text in logs.",
  json: "Saved. Masks cover this secret as a whole, not single values that a step takes out of its JSON.",
  removed: "Removed.",
  draining: "The agent finishes its build and takes no new one.",
  resumed: "The agent takes builds again.",
  connected: "The repository is connected.",
  "host-connected": "The git host is connected.",
  "app-made": "The App is made, and its key is sealed.",
  "app-installed": "The App is installed.",
  rotated: "The hook has another address and another secret.",
  redelivered: "The delivery was taken again.",
};

export const noticeOf = (key: string | null): string | null =>
  key !== null && Object.hasOwn(NOTICES, key) ? (NOTICES[key] ?? null) : null;
