import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkHooks, hookProblems } from "../../src/local/deploy-check.ts";

const GOOD = { problem: null, missing: [], hooks: [{ fullName: "acme/shop", problem: null }] };
const ANSWERS: Record<string, unknown> = {
  "/connection?limit=100": [
    { id: "one", name: "GitHub", isActive: true },
    { id: "two", name: "Forgejo", isActive: true },
    { id: "off", name: "closed", isActive: false },
  ],
  "/connection/one/check": GOOD,
  "/connection/two/check": { ...GOOD, hooks: [{ fullName: "acme/old", problem: "The host has an older address." }] },
};

let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    const isMaintainer = request.headers.authorization === "Bearer maintainer";
    const answer = ANSWERS[request.url ?? ""];
    response.writeHead(!isMaintainer ? 403 : answer ? 200 : 404).end(JSON.stringify(answer ?? null));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

describe("the check of hooks before a deployment", () => {
  it("checks each active connection, and names those with outdated hooks", async () => {
    const checks = await checkHooks(url, "maintainer");
    expect(hookProblems(checks ?? [])).toEqual(["Forgejo: acme/old"]);
  });

  it("reports nothing without the required role", async () => {
    expect(await checkHooks(url, "viewer")).toBeNull();
  });

  it("names an App that delivers elsewhere, and an unreachable host", () => {
    const app = { ...GOOD, name: "App", missing: ["GitHub sends the App's deliveries to another address."] };
    const away = { ...GOOD, name: "far", problem: "GitHub cannot be reached." };
    expect(hookProblems([app, away])).toEqual([
      "App: GitHub sends the App's deliveries to another address.",
      "far: GitHub cannot be reached.",
    ]);
  });
});
