/** The keys for the rows of every list. */
export const ROW_KEYS = { next: "j", previous: "k", end: "x" } as const;

/** The keys of pages and lists. The keys that open pages are in `navigation.tsx`. */
export const KEYS: { key: string; does: string }[] = [
  { key: "Ctrl K", does: "Find or do anything" },
  { key: ROW_KEYS.next, does: "Next row" },
  { key: ROW_KEYS.previous, does: "Previous row" },
  { key: "Enter", does: "Open the row" },
  { key: ROW_KEYS.end, does: "Remove or revoke the row, after a question" },
  { key: "/", does: "Search or filter" },
  { key: "c", does: "Cancel, after a question" },
  { key: "r", does: "Retry" },
  { key: "R", does: "Retry what failed" },
  { key: "n", does: "Next error in the log" },
  { key: "f", does: "Follow the end of the log" },
  { key: "w", does: "Wrap the lines of the log" },
  { key: "t", does: "Show the times of lines" },
  { key: "F", does: "Show the log on the full screen" },
  { key: "?", does: "Show these keys" },
];
