/** The search field above a list. The key `/` moves the focus to it. */
export const TextFilter = ({ path, query, label }: { path: string; query: URLSearchParams; label: string }) => (
  <form method="get" action={path} class="filter">
    <label>
      <span class="sr">{label}</span>
      <input type="search" name="q" placeholder={label} value={query.get("q") ?? ""} data-key="/" />
    </label>
    <button type="submit">Filter</button>
  </form>
);

/** The records with the searched text in one of their texts; upper and lower case are the same. */
export const filterByText = <T,>(records: T[], query: URLSearchParams, texts: (record: T) => string[]): T[] => {
  const search = (query.get("q") ?? "").trim().toLowerCase();
  return search === ""
    ? records
    : records.filter((record) => texts(record).some((text) => text.toLowerCase().includes(search)));
};

/** Below a list of which a filter leaves nothing. */
export const NoMatch = ({ noun, href }: { noun: string; href: string }) => (
  <p class="empty">
    No {noun} matches. <a href={href}>Show all</a>
  </p>
);
