import { withCommas } from "../../protocol/units.ts";
/** A part of a page, chosen by `tab` in the address. */
export interface Tab {
  name: string;
  title: string;
  /** How many things it has; null where nobody counts them. */
  count: number | null;
  isBad?: boolean;
}

/** The tab that the address names; the first where it names none of them. */
export const chooseTab = (query: URLSearchParams, tabs: Tab[]): string | undefined =>
  (tabs.find(({ name }) => name === query.get("tab")) ?? tabs[0])?.name;

/** The address of a tab: the first one has that of the page. */
export const tabAddress = (page: string, tabs: Tab[], name: string): string =>
  tabs[0]?.name === name ? page : `${page}?tab=${name}`;

interface TabsProps {
  /** The path of the page. */
  page: string;
  tabs: Tab[];
  current: string | undefined;
}

/** Links to the parts of a page: no script is needed. */
export const PartTabs = ({ page, tabs, current }: TabsProps) =>
  tabs.length === 0 ? null : (
    <nav class="part-tabs" id="parts" aria-label="Parts of this page">
      {tabs.map(({ name, title, count, isBad }) => (
        <a href={`${tabAddress(page, tabs, name)}#parts`} aria-current={name === current ? "page" : undefined}>
          {title}
          {count !== null && <span class={isBad ? "count is-bad" : "count"}> {withCommas(count)}</span>}
        </a>
      ))}
    </nav>
  );
