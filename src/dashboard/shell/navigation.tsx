import type { Role } from "../../protocol/token.ts";
import type { Context } from "../../services/core/context.ts";
import { hasRole, type Section } from "./page-definition.ts";

/** The pages' icons: 16 pixels, with lines of 1.5 pixels. States have their own shapes. */
const SHAPES = {
  overview: (
    <>
      <rect x="2.25" y="2.25" width="4.75" height="6" rx="1" />
      <rect x="9.25" y="2.25" width="4.5" height="3.5" rx="1" />
      <rect x="9.25" y="7.75" width="4.5" height="6" rx="1" />
      <rect x="2.25" y="10.25" width="4.75" height="3.5" rx="1" />
    </>
  ),
  builds: <path d="M2.25 3.75l1.25 1.25 2-2.25M2.25 11l1.25 1.25 2-2.25M8 4h5.75M8 8h5.75M8 12h5.75M3 8h1.5" />,
  fleet: (
    <>
      <rect x="2.25" y="2.5" width="11.5" height="4.5" rx="1" />
      <rect x="2.25" y="9" width="11.5" height="4.5" rx="1" />
      <path d="M5 4.75h.01M5 11.25h.01" />
    </>
  ),
  pipelines: (
    <>
      <rect x="2.25" y="2.25" width="4.5" height="4.5" rx="1" />
      <rect x="9.25" y="9.25" width="4.5" height="4.5" rx="1" />
      <path d="M4.5 6.75v2.75a2 2 0 0 0 2 2h2.75" />
    </>
  ),
  variables: (
    <>
      <circle cx="5.25" cy="10.75" r="3" />
      <path d="M7.4 8.6l6.1-6.1M10.5 5.5l2.25 2.25" />
    </>
  ),
  settings: (
    <>
      <path d="M2 5h6M12 5h2M2 11h2M8 11h6" />
      <circle cx="10" cy="5" r="1.75" />
      <circle cx="6" cy="11" r="1.75" />
    </>
  ),
  person: (
    <>
      <circle cx="8" cy="8" r="6" />
      <circle cx="8" cy="6.5" r="2" />
      <path d="M4.25 12.5a4.3 4.3 0 0 1 7.5 0" />
    </>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.5" />
      <path d="M10.5 10.5l3.25 3.25" />
    </>
  ),
  system: (
    <>
      <rect x="2" y="2.75" width="12" height="8" rx="1" />
      <path d="M5.5 13.5h5M8 10.75v2.75" />
    </>
  ),
  light: (
    <>
      <circle cx="8" cy="8" r="2.75" />
      <path d="M8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7" />
    </>
  ),
  dark: <path d="M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z" />,
  bell: <path d="M8 2a4 4 0 0 0-4 4v2.5L2.75 11h10.5L12 8.5V6a4 4 0 0 0-4-4zM6.5 13.5h3" />,
  keys: (
    <>
      <rect x="1.75" y="4" width="12.5" height="8" rx="1" />
      <path d="M4.5 6.5h.01M8 6.5h.01M11.5 6.5h.01M5.5 9.5h5" />
    </>
  ),
  leave: <path d="M6 2.5H3.5a1 1 0 0 0-1 1v9a1 1 0 0 0 1 1H6M10.5 11l3-3-3-3M13.5 8h-7" />,
};

export type IconName = keyof typeof SHAPES;

export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    {SHAPES[name]}
  </svg>
);

/** A page that every page links to. `key` names the two keys that open it. */
interface NavigationEntry {
  section: Section;
  href: string;
  name: string;
  role: Role;
  key: string;
}

/** A group in the navigation, with its pages. The navigation's link opens the first page. */
export interface NavigationGroup {
  name: string;
  icon: IconName;
  entries: NavigationEntry[];
}

const page = (section: Section, name: string, key: string, role: Role = "viewer", href = `/app/${section}`) => ({
  section,
  name,
  key,
  role,
  href,
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

/** Returns the groups that the signed-in person may open: groups for daily work, and groups at the foot. */
export const navigationFor = (context: Context): { places: NavigationGroup[]; settings: NavigationGroup[] } => {
  const allowed = (groups: NavigationGroup[]): NavigationGroup[] =>
    groups
      .map((group) => ({ ...group, entries: group.entries.filter(({ role }) => hasRole(context, role)) }))
      .filter(({ entries }) => entries.length > 0);
  return { places: allowed(PLACES), settings: allowed(SETTINGS) };
};

/** Returns this section's group, among the groups that the person may open, and its entry. */
export const navigationPlace = (groups: NavigationGroup[], section: Section | null) => {
  const group = groups.find(({ entries }) => entries.some((entry) => entry.section === section));
  return group && { group, entry: group.entries.find((entry) => entry.section === section)! };
};
