import type { Role } from "../../protocol/token.ts";
import type { Context } from "../../services/core/context.ts";
import type { IconName } from "../parts/icon.tsx";
import type { Section } from "./page-definition.ts";
import { hasRole } from "./permissions.ts";

/** A page that every page leads to. `key` names the two keys that open it. */
interface NavigationEntry {
  section: Section;
  href: string;
  name: string;
  role: Role;
  key: string;
}

/** An entry of the rail with the pages below it, of which it opens the first. */
export interface NavigationGroup {
  name: string;
  icon: IconName;
  entries: NavigationEntry[];
}

const page = (section: Section, name: string, key: string, role: Role = "viewer", href = `/app/${section}`) => ({
  ...{ section, name, key, role, href },
});

const PLACES: NavigationGroup[] = [
  { name: "Overview", icon: "overview", entries: [page("overview", "Overview", "g o", "viewer", "/app")] },
  { name: "Builds", icon: "builds", entries: [page("builds", "Builds", "g b")] },
  { name: "Fleet", icon: "fleet", entries: [page("agents", "Fleet", "g a")] },
  {
    name: "Pipelines",
    icon: "pipelines",
    entries: [page("repositories", "Repositories", "g r"), page("schedules", "Schedules", "g s")],
  },
  {
    name: "Variables",
    icon: "variables",
    entries: [page("variables", "Variables", "g v"), page("groups", "Variable groups", "g p")],
  },
];

const SETTINGS: NavigationGroup[] = [
  {
    name: "Settings",
    icon: "settings",
    entries: [
      page("tokens", "Tokens", "g t", "admin"),
      page("connections", "Connections", "g c", "maintainer"),
      page("audit", "Audit", "g u", "admin"),
    ],
  },
];

/** The entries that the signed-in person may open: those of daily work, and those at the foot. */
export const navigationFor = (context: Context): { places: NavigationGroup[]; settings: NavigationGroup[] } => {
  const allowed = (groups: NavigationGroup[]): NavigationGroup[] =>
    groups
      .map((group) => ({ ...group, entries: group.entries.filter(({ role }) => hasRole(context, role)) }))
      .filter(({ entries }) => entries.length > 0);
  return { places: allowed(PLACES), settings: allowed(SETTINGS) };
};

/** The group of this section among what the person may open, and its entry. */
export const navigationPlace = (groups: NavigationGroup[], section: Section | null) => {
  const group = groups.find(({ entries }) => entries.some((entry) => entry.section === section));
  return group && { group, entry: group.entries.find((entry) => entry.section === section)! };
};
