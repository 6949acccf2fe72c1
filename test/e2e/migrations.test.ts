import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, it } from "vitest";
import { migrate, ROOT } from "../../src/local/service.ts";
import { RELEASES } from "../releases/last.ts";
import { preparedService } from "../support/prepared-service.ts";

/* Applies migrations with wrangler, as an operator does. The tests check the output that the operator reads. */

const folder = mkdtempSync(join(tmpdir(), "millrace-migrations-"));
afterAll(() => rmSync(folder, { recursive: true }));

const TODAY = readdirSync(join(ROOT, "migrations")).filter((name) => name.endsWith(".sql"));
const OF_0_10_0 = Object.entries(
  JSON.parse(readFileSync(join(RELEASES, "0.10.0/migrations.json"), "utf8")) as Record<string, string>,
);

/** Opens the database in a state folder. */
const databaseOf = (state: string): DatabaseSync => {
  const [file = ""] = globSync(join(state, "**/d1/**/*.sqlite")).filter((path) => !path.includes("metadata"));
  return new DatabaseSync(file);
};

const ask = (state: string, query: string): Record<string, unknown>[] => {
  using db = databaseOf(state);
  return db.prepare(query).all();
};

const applied = (state: string): unknown[] =>
  ask(state, "SELECT name FROM d1_migrations ORDER BY id").map(({ name }) => name);

/** Only the previous release reads these, while it still runs. */
const UNREAD = JSON.stringify(["audit", "build", "variable_use", "audit_list", "build_list", "earlier_build"]);

/** Returns each table with its columns, and each index, view and trigger. Skips those that nobody reads. */
const schemaOf = (state: string): unknown[] =>
  ask(
    state,
    `SELECT type, name, CASE type
        WHEN 'table' THEN (SELECT json_group_array(json_array(c.name, c.type, "notnull", dflt_value, pk)) FROM pragma_table_info(o.name) c)
        ELSE sql END AS made
      FROM sqlite_master o WHERE tbl_name NOT IN (SELECT value FROM json_each('${UNREAD}')) AND sql IS NOT NULL
      ORDER BY type, name`,
  );

/** Adds two organizations. One has three variables. */
const addVariables = (state: string): void => {
  using db = databaseOf(state);
  db.exec("INSERT INTO organization (id, name, created_at) VALUES ('acme', 'Acme', ''), ('empty', 'Empty', '')");
  const columns =
    "id, org_id, scope, owner_id, key, value, is_secret, is_active, allow_override, created_at, updated_at";
  const row = db.prepare(
    `INSERT INTO variable (${columns}) VALUES (?1, 'acme', 'organization', 'acme', ?1, '', 0, 1, 1, '', '')`,
  );
  for (const key of ["A", "B", "C"]) row.run(key);
};

/** Empties the database. */
const begin = (state: string): void => {
  using db = databaseOf(state);
  db.exec("DELETE FROM d1_migrations");
  const made = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  for (const name of made.map((table) => String(table.name)).filter((one) => !/^(sqlite|_cf|d1)_/.test(one)))
    db.exec(`DROP TABLE ${name}`);
};

const add = (state: string, migrations: [string, string][]): void => {
  using db = databaseOf(state);
  for (const [name, text] of migrations) {
    db.exec(text);
    db.prepare("INSERT INTO d1_migrations (name) VALUES (?)").run(name);
  }
};

it("create a complete new database, upgrade one of 0.10.0, and reject an earlier one", async () => {
  const { state: prepared, config } = preparedService()!;
  const state = join(folder, "state");
  cpSync(prepared, state, { recursive: true });
  begin(state);
  await migrate(state, config);
  expect(applied(state)).toEqual(TODAY);
  const fresh = schemaOf(state);
  expect(fresh.length).toBeGreaterThan(60);

  begin(state);
  const part = OF_0_10_0.slice(0, 9);
  add(state, part);
  await expect(migrate(state, config)).rejects.toThrow(
    "This database is of a release before 0.10.0. Deploy 0.10.0 first, and then this release.",
  );
  expect(applied(state)).toEqual(part.map(([name]) => name));
  expect(ask(state, "SELECT name FROM sqlite_master WHERE name IN ('base_check', 'pipeline_history')")).toEqual([]);

  add(state, OF_0_10_0.slice(part.length));
  addVariables(state);
  await migrate(state, config);
  expect(applied(state)).toEqual([...OF_0_10_0.map(([name]) => name), ...TODAY.slice(1)]);
  expect(schemaOf(state)).toEqual(fresh);
  expect(ask(state, "SELECT id, variable_count AS count FROM organization ORDER BY id")).toEqual([
    { id: "acme", count: 3 },
    { id: "empty", count: 0 },
  ]);
});

it("are numbered onward from the first one", () => {
  const copy = join(folder, "numbered");
  cpSync(join(ROOT, "migrations"), copy, { recursive: true });
  const program = join(ROOT, "node_modules/drizzle-kit/bin.cjs");
  const options = ["--dialect", "sqlite", "--schema", "src/db/schema.ts", "--out", relative(ROOT, copy)];
  const generate = (...more: string[]) =>
    execFileSync(process.execPath, [program, "generate", ...options, ...more], { cwd: ROOT, encoding: "utf8" });
  expect(generate()).toContain("No schema changes");
  generate("--custom", "--name", "next");
  const names = readdirSync(copy).filter((name) => name.endsWith(".sql"));
  expect(names).toEqual([...TODAY, `${String(12 + TODAY.length).padStart(4, "0")}_next.sql`]);
});
