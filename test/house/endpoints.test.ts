import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Route } from "../../src/api/route.ts";
import { ROUTES } from "../../src/api/routes.ts";

const callersOf = ({ verb: { access } }: Route): string =>
  [access.role, access.registration && "registration token", access.agent && "agent", access.operator && "operator"]
    .filter(Boolean)
    .join(", ");

/** Returns docs/api.md's row for each path: its methods, grouped by the callers who may use them. */
const rowsOf = (routes: Route[]): string[] =>
  [...Map.groupBy(routes, ({ path }) => path.replace(/:(\w+)/g, "{$1}"))].map(([path, ofPath]) => {
    const groups = [...Map.groupBy(ofPath, callersOf)].map(
      ([callers, same]) => `${same.map(({ method }) => method).join(", ")}: ${callers}`,
    );
    return `| \`${path}\` | ${groups.join("; ")} |`;
  });

const rowsIn = (page: string): string[] => {
  const [, section = ""] = page.split("\n## Endpoints\n");
  return section
    .replaceAll(/ +/g, " ")
    .split("\n")
    .filter((line) => line.startsWith("| `/"));
};

describe("the table of endpoints in docs/api.md", () => {
  const page = readFileSync("docs/api.md", "utf8");

  it("has every route's path, methods and callers", () => {
    expect(rowsIn(page)).toEqual(rowsOf(ROUTES));
  });

  it("fails the check with a missing route or a wrong caller", () => {
    expect(rowsIn(page)).not.toEqual(rowsOf(ROUTES.slice(1)));
    expect(rowsIn(page.replace("GET: viewer", "GET: member"))).not.toEqual(rowsOf(ROUTES));
  });
});
