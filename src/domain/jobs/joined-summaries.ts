/** What jobs wrote for people as one text in Markdown, each under its key; null where none wrote anything. */
export const joinedSummaries = (jobs: { key: string; summary: string | null }[]): string | null => {
  const written = jobs.filter(({ summary }) => summary);
  return written.length > 0 ? written.map(({ key, summary }) => `## ${key}\n\n${summary}`).join("\n\n") : null;
};
