import { LIMITS } from "../../../src/protocol/limits.ts";
import type { Row } from "./row.ts";

const query = (path: string, pointer: string): Row => ({
  ...{ is: `the filter ${path}`, method: "GET", path, status: 422, kind: "invalid", pointer },
});

export const QUERIES: Row[] = [
  ...["0", "201", "-1", "x", "1.5", "", "1e1000"].map((limit) => query(`/repository?limit=${limit}`, "/limit")),
  ...["x", "!!!!", btoa("not-an-id"), "A".repeat(LIMITS.cursorCharacters + 1)].map((cursor) =>
    query(`/build?cursor=${cursor}`, "/cursor"),
  ),
  query("/build?status=done", "/status"),
  query("/build?repoId=7", "/repoId"),
  query(`/build?branch=${"x".repeat(LIMITS.branchCharacters + 1)}`, "/branch"),
  query("/build?colour=red", ""),
  query("/secrets/variables?includeInactive=yes", "/includeInactive"),
  query("/secrets/groups?includeVariables=1", "/includeVariables"),
  query("/audit?since=yesterday", "/since"),
  query("/secrets/unused?days=0", "/days"),
];
