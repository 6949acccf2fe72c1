import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { LocationHint, OwnLimits } from "../../protocol/organization.ts";
import type { Role } from "../../protocol/token.ts";

export const organization = sqliteTable("organization", {
  id: text().primaryKey(),
  name: text().notNull(),
  locationHint: text("location_hint").$type<LocationHint>(),
  createdAt: text("created_at").notNull(),
  /** The time at which the organization's deletion began. From then on the service rejects its tokens and agents. */
  deletingAt: text("deleting_at"),
  /** The limits that the operator set. */
  limits: text({ mode: "json" }).$type<OwnLimits>(),
  /** The number of the organization's variables. Only triggers write it. */
  variableCount: integer("variable_count").notNull().default(0),
});

/** Ids of deleted organizations. No new organization gets one of them. */
export const formerOrganization = sqliteTable("former_organization", {
  id: text().primaryKey(),
  deletedAt: text("deleted_at").notNull(),
});

export const token = sqliteTable(
  "token",
  {
    id: text().primaryKey(),
    orgId: text("org_id").notNull(),
    /** SHA-256 of the token, in hexadecimal digits. */
    hash: text().notNull().unique(),
    name: text().notNull(),
    kind: text({ enum: ["api", "registration"] }).notNull(),
    role: text().$type<Role>(),
    labels: text({ mode: "json" }).$type<string[]>(),
    expiresAt: text("expires_at"),
    lastUsedAt: text("last_used_at"),
    /** The token's previous hash after a rotation. It stays valid until `previousUntil`. */
    previousHash: text("previous_hash").unique(),
    previousUntil: text("previous_until"),
    version: integer().notNull().default(1),
    createdAt: text("created_at").notNull(),
  },
  (table) => [
    index("token_by_org").on(table.orgId, table.id),
    index("token_by_name").on(table.orgId, table.name, table.id),
  ],
);

/** Dashboard sessions that ended before their cookie expired. */
export const endedSession = sqliteTable(
  "ended_session",
  {
    id: text().primaryKey(),
    /** The time at which the cookie itself expires. */
    until: text().notNull(),
  },
  (table) => [index("ended_session_by_time").on(table.until)],
);
