/** Returns a Markdown table, with numbers on the right. */
export const table = (head: string[], rows: string[][]): string =>
  [head, head.map((_, column) => (column === 0 ? "---" : "---:")), ...rows]
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n");

/** Formats dollars as people read them: cents only below a hundred. */
export const dollars = (value: number): string => {
  const digits = value < 100 ? 2 : 0;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
};

/** Formats a count without needless digits. */
export const rounded = (value: number): string =>
  value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? 1 : 0 });
