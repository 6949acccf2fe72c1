import { LIMITS } from "../../../src/protocol/limits.ts";
import type { Row } from "./row.ts";
import { CANARY, foreign, own } from "./stage.ts";

const lease = (number: string | number) => () => ({ "X-Lease": String(number) });
const asAgent = (is: string, verb: string, more: Partial<Row> & Pick<Row, "status" | "kind">): Row => ({
  is: `an agent with ${is}`,
  as: () => own.agent.token,
  path: () => `/build/${own.job.build.id}/${verb}`,
  headers: () => ({ "X-Lease": String(own.job.lease) }),
  ...more,
});
const stale = { status: 409, kind: "lease-lost" } as const;
const finish = { status: "succeeded", exitCode: 0 };

export const AGENTS: Row[] = [
  asAgent("an older lease", "start", { ...stale, headers: lease(1) }),
  asAgent("a later lease", "finish", { ...stale, body: finish, headers: lease(9_999_999_999_999) }),
  asAgent("a lease of another build", "progress", { ...stale, body: {}, headers: () => lease(foreign.job.lease)() }),
  asAgent("a stale lease for its log", "log?offset=0", { ...stale, method: "PUT", body: CANARY, headers: lease(1) }),
  ...["abc", "-1", "1.5", "1e3", "", " ", "9".repeat(17), "0x10"].map((text) =>
    asAgent(`the lease ${JSON.stringify(text)}`, "start", { status: 422, kind: "invalid", headers: lease(text) }),
  ),
  asAgent("no lease", "finish", { status: 422, kind: "invalid", body: finish, headers: () => ({}) }),
  ...[256, -1, 1.5, "0"].map((exitCode) =>
    asAgent(`exit code ${exitCode}`, "finish", {
      status: 422,
      kind: "invalid",
      body: { ...finish, exitCode },
      pointer: "/exitCode",
    }),
  ),
  asAgent("an unknown status", "finish", {
    status: 422,
    kind: "invalid",
    body: { status: CANARY },
    pointer: "/status",
  }),
  asAgent("a gap in its log", "log?offset=1000", { method: "PUT", body: CANARY, status: 409, kind: "log-gap" }),
  ...["-1", "x", "1.5", "", "1e99"].map((offset) =>
    asAgent(`the offset ${offset}`, `log?offset=${offset}`, {
      method: "PUT",
      body: CANARY,
      status: 422,
      kind: "invalid",
    }),
  ),
  asAgent("no offset", "log", { method: "PUT", body: CANARY, status: 422, kind: "invalid" }),
  asAgent("a chunk over 1 MiB", "log?offset=6", {
    method: "PUT",
    body: "x".repeat(LIMITS.bodyBytes + 1),
    status: 413,
    kind: "too-large",
  }),
  asAgent("a call about another organization's build", "finish", {
    ...{ path: () => `/build/${foreign.job.build.id}/finish`, body: finish, headers: () => lease(foreign.job.lease)() },
    ...{ status: 404, kind: "not-found" },
  }),
  ...["poll", "heartbeat"].map((verb) =>
    asAgent(`a ${verb} of another agent`, verb, {
      ...{ method: verb === "poll" ? "GET" : "POST", path: () => `/buildagent/${own.other.id}/${verb}` },
      ...{ status: 403, kind: "forbidden" },
    }),
  ),
  asAgent("a person's token at its poll", "poll", {
    ...{ as: () => own.admin, method: "GET", path: () => `/buildagent/${own.agent.id}/poll` },
    ...{ status: 403, kind: "forbidden" },
  }),
  ...["61", "-1", "x"].map((wait) =>
    asAgent(`a wait of ${wait}`, "poll", {
      ...{ method: "GET", path: () => `/buildagent/${own.agent.id}/poll?wait=${wait}` },
      ...{ status: 422, kind: "invalid" },
    }),
  ),
];
