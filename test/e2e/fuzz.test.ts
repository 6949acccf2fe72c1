import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeApi } from "../../src/api/description/describe.ts";
import { ROUTES } from "../../src/api/routes.ts";
import { Client } from "../../src/local/client.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import { fuzz } from "../fuzz/fuzz.ts";
import { Sequence } from "../fuzz/sequence.ts";
import { type ServedWorker, serveBundled } from "../support/served-worker.ts";
import { withStorageIn } from "../support/storage-in.ts";

/** `npm run fuzz` sends any number of requests. */
const REQUESTS = 1_000;

let service: ServedWorker;
beforeAll(async () => {
  service = await withStorageIn("memory", serveBundled);
});
afterAll(() => service?.stop());

describe("requests generated from the description", () => {
  it("get the described answers, never 5xx, and store nothing when rejected", async () => {
    const { requests, findings, statuses } = await fuzz(service, { seed: 7, requests: REQUESTS });
    expect(findings).toEqual([]);
    expect(requests).toBe(REQUESTS);
    expect(statuses[200]).toBeGreaterThan(REQUESTS / 20);
    expect(statuses[201]).toBeGreaterThan(REQUESTS / 50);
  });

  it("detect answers that do not match the description", async () => {
    const description = JSON.parse(JSON.stringify(describeApi(ROUTES, [])));
    delete description.components.schemas.Variable.properties.version;
    delete description.paths["/repository"].get.responses["401"];
    description.components.schemas.Repository.properties.fullName = { type: "integer" };
    const { findings } = await fuzz(service, { seed: 8, requests: REQUESTS, description });
    expect(findings.length).toBeGreaterThan(2);
  });

  it("detect rows that are stored without an accepted request", async () => {
    const sequence = new Sequence(service, () => [], "fuzz-control");
    await sequence.setUp();
    const { token } = await service.operator.call<{ token: string }>("POST", "/organization/fuzz-control/token");
    const otherClient = new Client(service.url, token);
    // Uses the service's clock: workerd's clock may be some milliseconds behind this process's.
    const newest = service.db.prepare("SELECT max(at) AS at FROM audit_log WHERE org_id = ?").bind("fuzz-control");
    const begun = (await newest.first<string>("at")) ?? "";
    await otherClient.call("POST", "/secrets/groups", { name: "stored behind its back" });
    await sequence.checkStoredData(begun);
    expect(sequence.findings.map(({ problem }) => problem.replace(/: .*/, ""))).toEqual([
      "group.create is in the audit although its request was refused",
      "/secrets/groups has a record that no answer had",
    ]);
  });
});

describe("a body with a wrong Content-Length", () => {
  let token: string;
  beforeAll(async () => {
    ({ token } = await service.newOrganization("lengths"));
  });

  /** Returns the status for bytes that no HTTP client would send. */
  const statusOf = async (headers: string[], body: string): Promise<number> => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    const head = ["POST /secrets/groups HTTP/1.1", `Host: ${hostname}`, "Connection: close", ...headers];
    const caller = [`Authorization: Bearer ${token}`, "Content-Type: application/json"];
    socket.end(`${[...head, ...caller].join("\r\n")}\r\n\r\n${body}`);
    return Number(/^HTTP\/1.1 (\d+)/.exec(await text(socket))?.[1]);
  };
  const group = (name: string, more = "") => JSON.stringify({ name, description: more });
  const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const large = "x".repeat(LIMITS.bodyBytes);

  it("is read up to that length", async () => {
    const body = group("cut");
    expect(await statusOf([`Content-Length: ${body.length}`], `${body}${large}`)).toBe(201);
    expect(await statusOf([`Content-Length: ${body.length - 1}`], body)).toBe(400);
  });

  it("is rejected above the limit if it is chunked", async () => {
    const both = ["Transfer-Encoding: chunked", "Content-Length: 9"];
    expect(await statusOf(both, chunked(group("in chunks")))).toBe(201);
    expect(await statusOf(both, chunked(group("too large", large)))).toBe(413);
  });
});
