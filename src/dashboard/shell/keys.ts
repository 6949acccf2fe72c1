/** The keys for the rows of every list. */
export const ROW_KEYS = { next: "j", previous: "k", end: "x" } as const;

/** The keys of pages and lists. The keys that open pages are in `navigation.tsx`. */
export const KEYS: { key: string; does: string }[] = [
  { key: "Ctrl K", does: "Search or run an action" },
  { key: ROW_KEYS.next, does: "Next row" },
  { key: ROW_KEYS.previous, does: "Previous row" },
  { key: "Enter", does: "Open the row" },
  { key: ROW_KEYS.end, does: "Remove or revoke the row (asks first)" },
  { key: "/", does: "Search or filter" },
  { key: "c", does: "Cancel (asks first)" },
  { key: "r", does: "Retry" },
  { key: "R", does: "Retry only failed jobs" },
  { key: "n", does: "Next error in the log" },
  { key: "f", does: "Follow the log" },
  { key: "w", does: "Wrap log lines" },
  { key: "t", does: "Show line times" },
  { key: "F", does: "Show the log in full screen" },
  { key: "?", does: "Show these shortcuts" },
];
