import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { type Answer, create, newAgent, newOrganization } from "../support/api.ts";
import { callDeployedWith } from "../support/deployment.ts";

const call = callDeployedWith({});

/** Changes to a list between two pages. Rows have numbers in the order of their ids. */
interface History {
  limit: number;
  rows: number[];
  between: { inserted: number[]; removed: number[] }[];
}

const ROWS = 12;
const rows = fc.uniqueArray(fc.integer({ min: 0, max: ROWS - 1 }), { maxLength: ROWS });
const history: fc.Arbitrary<History> = fc.record({
  limit: fc.integer({ min: 1, max: 4 }),
  rows,
  between: fc.array(fc.record({ inserted: rows, removed: rows }), { maxLength: 4 }),
});

/** A list that a test can change and read page by page. `null` starts at the first page, and marks the last. */
interface List {
  insert(rows: number[]): Promise<unknown>;
  remove(rows: number[]): Promise<unknown>;
  page(limit: number, next: string | null): Promise<{ rows: number[]; next: string | null }>;
}

/** Reads page by page while rows are inserted and removed. Returns the errors in the result. */
const read = async (list: List, { limit, rows, between }: History): Promise<string[]> => {
  await list.insert(rows);
  const lasting = new Set(rows);
  const seen: number[] = [];
  let next: string | null = null;
  for (let n = 0; n === 0 || next !== null; n++) {
    const page: Awaited<ReturnType<List["page"]>> = await list.page(limit, next);
    seen.push(...page.rows);
    next = page.next;
    const { inserted = [], removed = [] } = between[n] ?? {};
    for (const row of removed) lasting.delete(row);
    await list.remove(removed);
    await list.insert(inserted);
  }
  return [
    ...seen.filter((row, at) => seen.indexOf(row) !== at).map((row) => `${row} came twice`),
    ...[...lasting].filter((row) => !seen.includes(row)).map((row) => `${row} is missing`),
  ];
};

const idOf = (run: number, row: number): string =>
  `0198c5d2-0000-7000-8000-${String(run).padStart(6, "0")}${String(row).padStart(6, "0")}`;
const rowOf = (id: string): number => Number(id.slice(-6));

const AT = "2026-01-01T00:00:00.000Z";
const TABLES = {
  "/secrets/groups": (orgId: string, id: string) =>
    env.DB.prepare(
      "INSERT OR IGNORE INTO variable_group (id, org_id, name, created_at, updated_at) VALUES (?1, ?2, ?1, ?3, ?3)",
    ).bind(id, orgId, AT),
  "/build": (orgId: string, id: string) =>
    env.DB.prepare(
      `INSERT OR IGNORE INTO build_summary (id, org_id, number, repo_id, ref, event, trigger, priority, status, attempt, leak, queued_at, pool_version)
        VALUES (?, ?, 1, '', 'refs/heads/main', 'api', 'api', 0, 'succeeded', 1, 0, 1, 1)`,
    ).bind(id, orgId),
};

let run = 0;

/** Returns an organization's real list. */
const served = (path: keyof typeof TABLES, { orgId, admin }: { orgId: string; admin: string }): List => {
  const mine = ++run;
  const table = path === "/build" ? "build_summary" : "variable_group";
  const change = (statements: D1PreparedStatement[]) => (statements.length > 0 ? env.DB.batch(statements) : null);
  return {
    insert: async (rows) => change(rows.map((row) => TABLES[path](orgId, idOf(mine, row)))),
    remove: async (rows) =>
      change(rows.map((row) => env.DB.prepare(`DELETE FROM ${table} WHERE id = ?`).bind(idOf(mine, row)))),
    async page(limit, next) {
      const { body, headers } = await call<{ id: string }[]>(admin, "GET", next ?? `${path}?limit=${limit}`);
      const [, link = null] = /^<https:\/\/millrace\.test(.+)>; rel="next"$/.exec(headers.get("Link") ?? "") ?? [];
      return { rows: body.map(({ id }) => rowOf(id)), next: link };
    },
  };
};

/** Returns a list that wrongly counts its pages from the beginning. */
const countedFromTheBeginning = (): List => {
  let present: number[] = [];
  return {
    insert: async (rows) => {
      present = [...new Set([...present, ...rows])].sort((a, b) => a - b);
    },
    remove: async (rows) => {
      present = present.filter((row) => !rows.includes(row));
    },
    async page(limit, next) {
      const offset = Number(next ?? 0);
      const rows = present.slice(offset, offset + limit);
      return { rows, next: offset + limit < present.length ? String(offset + limit) : null };
    },
  };
};

describe("pages", () => {
  const AT_ONCE = 10;
  const HISTORIES = 80;
  const organizations: { orgId: string; admin: string }[] = [];

  beforeAll(async () => {
    for (let n = 0; n < AT_ONCE; n++) organizations.push(await newOrganization());
  });

  it.each(["/secrets/groups", "/build"] as const)(
    "of %s repeat no row and miss no permanent row while other rows come and go",
    async (path) => {
      const several = fc.array(history, { minLength: AT_ONCE, maxLength: AT_ONCE, size: "max" });
      await fc.assert(
        fc.asyncProperty(several, async (histories) => {
          const clear = `DELETE FROM ${path === "/build" ? "build_summary" : "variable_group"}`;
          await env.DB.prepare(clear).run();
          const found = await Promise.all(
            histories.map((one, n) => read(served(path, organizations[n] ?? organizations[0]!), one)),
          );
          expect(found.flat()).toEqual([]);
        }),
        { numRuns: HISTORIES / AT_ONCE },
      );
    },
    180_000,
  );

  it("fail the property when a page repeats or misses a row", async () => {
    const wrong = fc.assert(
      fc.asyncProperty(history, async (one) => (await read(countedFromTheBeginning(), one)).length === 0),
      { numRuns: HISTORIES },
    );
    await expect(wrong).rejects.toThrow("Property failed");
  });
});

describe("a list", () => {
  const MANY = 101;

  it("has pages of 100 by default, and links to the next page by its full URL", async () => {
    const { orgId, admin } = await newOrganization();
    const row = (n: number) => TABLES["/secrets/groups"](orgId, idOf(999, n));
    await env.DB.batch(Array.from({ length: MANY }, (_, n) => row(n)));
    const first = await call(admin, "GET", "/secrets/groups");
    expect(first.body).toHaveLength(100);
    const [, link = ""] = /^<(.+)>; rel="next"$/.exec(first.headers.get("Link") ?? "") ?? [];
    const next = new URL(link);
    expect(next.origin).toBe("https://millrace.test");
    const last = await call(admin, "GET", next.pathname + next.search);
    expect([last.body.length, last.headers.get("Link")]).toEqual([1, null]);
  });

  it("of agents is complete on one page", async () => {
    const { admin } = await newOrganization();
    for (let n = 0; n < MANY; n++) await newAgent(admin);
    const { body, headers } = await call(admin, "GET", "/buildagent");
    expect([body.length, headers.get("Link")]).toEqual([MANY, null]);
  });

  it("of organizations or unused secrets has pages too", async () => {
    const organizations = [await newOrganization(), await newOrganization()];
    const seen: string[] = [];
    for (let path: string | undefined = "/organization?limit=1"; path; ) {
      const { body, headers }: Answer<{ id: string }[]> = await call(env.OPERATOR_TOKEN ?? "", "GET", path);
      expect(body).toHaveLength(1);
      seen.push(...body.map(({ id }) => id));
      path = /^<https:\/\/millrace\.test(.+)>; rel="next"$/.exec(headers.get("Link") ?? "")?.[1];
    }
    expect(seen).toEqual(expect.arrayContaining(organizations.map(({ orgId }) => orgId)));
    expect(new Set(seen).size).toBe(seen.length);
    const [{ orgId, admin }] = organizations as [(typeof organizations)[0]];
    for (const key of ["A", "B"]) {
      await create(admin, "/secrets/variables", {
        key,
        value: "secret",
        isSecret: true,
        scope: "organization",
        orgId,
      });
    }
    const { body, headers } = await call(admin, "GET", "/secrets/unused?limit=1&days=1");
    expect(body.map(({ key }: { key: string }) => key)).toEqual(["A"]);
    expect(headers.get("Link")).toContain("/secrets/unused?limit=1&days=1&cursor=");
  });
});
