import type { Role } from "../protocol/token.ts";
import type { Context } from "../services/core/context.ts";
import type { Section } from "./page-definition.ts";
import { hasRole } from "./permissions.ts";

/** A link at the top of every page. `key` names the two keys that open it. */
export interface NavigationEntry {
  section: Section;
  href: string;
  name: string;
  role: Role;
  key: string;
}

const NAVIGATION: NavigationEntry[] = [
  { section: "builds", href: "/app/builds", name: "Builds", role: "viewer", key: "g b" },
  { section: "agents", href: "/app/agents", name: "Agents", role: "viewer", key: "g a" },
  { section: "repositories", href: "/app/repositories", name: "Repositories", role: "viewer", key: "g r" },
  { section: "schedules", href: "/app/schedules", name: "Schedules", role: "viewer", key: "g s" },
  { section: "connections", href: "/app/connections", name: "Connections", role: "maintainer", key: "g c" },
  { section: "variables", href: "/app/variables", name: "Variables", role: "viewer", key: "g v" },
  { section: "tokens", href: "/app/tokens", name: "Tokens", role: "admin", key: "g t" },
  { section: "audit", href: "/app/audit", name: "Audit", role: "admin", key: "g u" },
];

/** The entries whose pages the signed-in person may open. */
export const navigationFor = (context: Context): NavigationEntry[] =>
  NAVIGATION.filter(({ role }) => hasRole(context, role));
