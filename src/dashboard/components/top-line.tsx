import type { PoolNow } from "../../protocol/pool-now.ts";
import { type NavigationGroup, placeOf } from "../navigation.ts";
import type { View } from "../page-definition.ts";
import { Icon } from "./icon.tsx";

interface TopProps {
  groups: NavigationGroup[];
  view: View;
}

/** Where one is: the pages above this one, then this one. */
const Trail = ({ groups, view }: TopProps) => {
  const entry = placeOf(groups, view.section)?.entry;
  const own = entry && entry.name !== view.title ? [{ name: entry.name, href: entry.href }] : [];
  return (
    <nav aria-label="Where you are" class="trail">
      {(view.trail ?? own).map(({ name, href }) => (
        <a href={href}>{name}</a>
      ))}
      <span aria-current="page">{view.crumb ?? view.title}</span>
    </nav>
  );
};

const COUNTS = [
  { key: "running", word: "running", href: "/app/builds?status=running" },
  { key: "waiting", word: "waiting", href: "/app/builds?status=queued" },
  { key: "forRole", word: "for you", href: "/app" },
] as const;

/** What happens now, one link for each count that is not 0. */
const Now = ({ now }: { now: PoolNow | null }) => (
  <nav id="now" class="now" aria-label="Now">
    {now &&
      COUNTS.filter(({ key }) => now[key] > 0).map(({ key, word, href }) => (
        <a href={href} class={`now-${key}`}>
          <strong>{now[key]}</strong> <span class="now-word">{word}</span>
        </a>
      ))}
  </nav>
);

/** The line above every page: where one is, what happens now, and the way to everything by words. */
export const TopLine = ({ now, ...props }: TopProps & { now: PoolNow | null }) => (
  <div class="top">
    <Trail {...props} />
    <Now now={now} />
    <button type="button" class="to-palette" aria-label="Search and actions, Ctrl K" hidden>
      <Icon name="search" />
      <kbd>Ctrl K</kbd>
    </button>
  </div>
);

/** The pages of one entry of the rail beside each other, on those pages themselves. */
export const Tabs = ({ groups, view }: TopProps) => {
  const place = placeOf(groups, view.section);
  if (!place || place.group.entries.length < 2 || place.entry.name !== view.title) return null;
  return (
    <nav aria-label={place.group.name} class="tabs">
      {place.group.entries.map(({ name, href, section, key }) => (
        <a href={href} aria-current={section === view.section ? "page" : undefined} data-key={key}>
          {name}
        </a>
      ))}
    </nav>
  );
};
