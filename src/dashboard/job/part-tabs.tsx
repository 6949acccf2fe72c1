import { withCommas } from "../../protocol/units.ts";
/** A part of a page. `tab` in the address selects it. */
export interface Tab {
  name: string;
  title: string;
  /** The number of items in the part; null if the page does not count them. */
  count: number | null;
  isBad?: boolean;
}

/** Returns the tab that the address names, or the first tab if the address names none of these tabs. */
export const chooseTab = (query: URLSearchParams, tabs: Tab[]): string | undefined =>
  (tabs.find(({ name }) => name === query.get("tab")) ?? tabs[0])?.name;

/** Returns the address of a tab. The first tab has the address of the page itself. */
export const tabAddress = (page: string, tabs: Tab[], name: string): string =>
  tabs[0]?.name === name ? page : `${page}?tab=${name}`;

interface TabsProps {
  /** The page's path. */
  page: string;
  tabs: Tab[];
  current: string | undefined;
}

/** Links to the parts of a page. The links work without a script. */
export const PartTabs = ({ page, tabs, current }: TabsProps) =>
  tabs.length === 0 ? null : (
    <nav class="part-tabs" id="parts" aria-label="Page sections">
      {tabs.map(({ name, title, count, isBad }) => (
        <a href={`${tabAddress(page, tabs, name)}#parts`} aria-current={name === current ? "page" : undefined}>
          {title}
          {count !== null && <span class={isBad ? "count is-bad" : "count"}> {withCommas(count)}</span>}
        </a>
      ))}
    </nav>
  );
