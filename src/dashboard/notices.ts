/** What a page says after a form was obeyed. The list is closed: no address can make a page say anything else. */
const NOTICES: Record<string, string> = {
  canceled: "The build is being canceled.",
  triggered: "The build is in the queue.",
  created: "Created.",
  saved: "Saved.",
  removed: "Removed.",
  draining: "The agent finishes its build and takes no new one.",
  resumed: "The agent takes builds again.",
  connected: "The repository is connected.",
};

export const noticeOf = (done: string | null): string | null =>
  done !== null && Object.hasOwn(NOTICES, done) ? (NOTICES[done] ?? null) : null;
