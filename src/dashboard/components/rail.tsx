import type { Context } from "../../services/core/context.ts";
import { assetUrl } from "../asset-url.ts";
import type { NavigationGroup, navigationFor } from "../navigation.ts";
import type { Section } from "../page-definition.ts";
import { Icon } from "./icon.tsx";

interface RailProps {
  context: Context;
  navigation: ReturnType<typeof navigationFor>;
  section: Section | null;
}

const Entry = ({ group, section }: { group: NavigationGroup; section: Section | null }) => {
  const { name, icon, entries } = group;
  const [first] = entries;
  const isHere = entries.some((entry) => entry.section === section);
  return (
    <a href={first?.href} aria-current={isHere ? "page" : undefined} data-key={first?.key} title={name}>
      <Icon name={icon} />
      <span>{name}</span>
    </a>
  );
};

/** The way to every part: a column of icons and words, of icons on a narrow screen, a bar at the thumb on a phone. */
export const Rail = ({ context, navigation: { places, settings }, section }: RailProps) => (
  <header class="rail">
    <a class="brand" href="/app" title="Millrace">
      <img src={assetUrl("mark.svg")} alt="" width="18" height="18" />
      <span>Millrace</span>
    </a>
    <span class="org">{context.orgId}</span>
    <nav aria-label="Pages">
      {places.map((group) => (
        <Entry group={group} section={section} />
      ))}
    </nav>
    <nav aria-label="Settings and person" class="foot">
      {settings.map((group) => (
        <Entry group={group} section={section} />
      ))}
      <button type="button" popovertarget="me" aria-label={`You, ${context.admitted.role}`}>
        <Icon name="person" />
        <span>{context.admitted.role}</span>
      </button>
    </nav>
  </header>
);
