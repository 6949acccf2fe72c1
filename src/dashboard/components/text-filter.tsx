/** Shows of a list what has the text in one of its names; `/` leads here. */
export const TextFilter = ({ path, query, label }: { path: string; query: URLSearchParams; label: string }) => (
  <form method="get" action={path} class="filter">
    <label>
      <span class="sr">{label}</span>
      <input type="search" name="q" placeholder={label} value={query.get("q") ?? ""} data-key="/" />
    </label>
    <button type="submit">Filter</button>
  </form>
);

/** The records one of whose texts has what was looked for, in any case. */
export const filterByText = <T,>(records: T[], query: URLSearchParams, texts: (record: T) => string[]): T[] => {
  const sought = (query.get("q") ?? "").trim().toLowerCase();
  return sought === ""
    ? records
    : records.filter((record) => texts(record).some((text) => text.toLowerCase().includes(sought)));
};
