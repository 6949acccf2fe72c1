import type * as z from "zod/mini";
import { type FieldError, Refusal } from "../../services/core/refusal.ts";
import { parseBody } from "../shell/verb-input.ts";

export interface ListFilter<T> {
  /** The filters whose values are valid. */
  filter: T;
  /** The problems of the filters whose values are invalid. */
  errors: FieldError[];
}

/** Reads a list's filters from the page's address. If a value is invalid, drops only the filter with this value. */
export const readFilter = <S extends z.ZodMiniType>(
  schema: S,
  values: Record<string, unknown>,
): ListFilter<z.output<S>> => {
  try {
    return { filter: parseBody(schema, values), errors: [] };
  } catch (error) {
    const errors = error instanceof Refusal ? error.extras.errors : undefined;
    if (!errors) throw error;
    const wrong = new Set(errors.map(({ pointer }) => pointer.split("/")[1]));
    const valid = Object.entries(values).filter(([name]) => !wrong.has(name));
    return { filter: parseBody(schema, Object.fromEntries(valid)), errors };
  }
};

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Returns a time from the address. A text that is only a day stands for midnight UTC. */
export const toTime = (value: string): string => (DAY.test(value) ? `${value}T00:00:00Z` : value);

/** Returns the address's fields that have one of these names and are not empty. */
export const filledFields = (query: URLSearchParams, names: string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = query.get(name)?.trim();
      return value ? [[name, value]] : [];
    }),
  );

/** Shows the search field above a list. The key `/` moves the focus to it. */
export const TextFilter = ({ path, query, label }: { path: string; query: URLSearchParams; label: string }) => (
  <form method="get" action={path} class="filter">
    <label>
      <span class="sr">{label}</span>
      <input type="search" name="q" placeholder={label} value={query.get("q") ?? ""} data-key="/" />
    </label>
    <button type="submit">Filter</button>
  </form>
);

/** Returns the records in which one of the texts contains the searched text, in upper or lower case. */
export const filterByText = <T,>(records: T[], query: URLSearchParams, texts: (record: T) => string[]): T[] => {
  const search = (query.get("q") ?? "").trim().toLowerCase();
  return search === ""
    ? records
    : records.filter((record) => texts(record).some((text) => text.toLowerCase().includes(search)));
};

/** Says below an empty list that nothing matches its filters. */
export const NoMatch = ({ noun, href }: { noun: string; href: string }) => (
  <p class="empty">
    No {noun} matches. <a href={href}>Show all</a>
  </p>
);

/** The words for filters that have another name in the address. */
const CALLED: Record<string, string> = {
  repoId: "repository",
  pipelineId: "pipeline",
  status: "state",
  commitSha: "commit",
  refName: "branch or tag",
  pull: "pull request",
  cursor: "page",
  since: "first day",
  until: "last day",
};

const filterName = (pointer: string): string => CALLED[pointer.slice(1)] ?? pointer.slice(1);

/**
 * Says which filters of a list the page did not apply, and why. Never repeats a value, because a link may contain it.
 */
export const FilterNotice = ({ errors }: { errors: FieldError[] }) =>
  errors.length === 0 ? null : (
    <div class="problem" role="alert">
      <p>
        <strong>{errors.length === 1 ? "A filter was" : `${errors.length} filters were`} not applied.</strong>
      </p>
      <ul>
        {errors.map(({ pointer, detail }) => (
          <li>
            The {filterName(pointer)} {detail}.
          </li>
        ))}
      </ul>
    </div>
  );
