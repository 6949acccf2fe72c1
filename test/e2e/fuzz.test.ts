import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describe as describeApi } from "../../src/api/description/describe.ts";
import { ROUTES } from "../../src/api/routes.ts";
import { Client } from "../../src/local/client.ts";
import { fuzz } from "../fuzz/fuzz.ts";
import { Round } from "../fuzz/round.ts";
import { type ServedWorker, serveBundled } from "../support/served-worker.ts";
import { keptIn } from "../support/storage.ts";

const REQUESTS = 10_000;

let service: ServedWorker;
beforeAll(async () => {
  service = await keptIn("memory", serveBundled);
});
afterAll(() => service?.stop());

describe("requests made from the description", () => {
  it("are answered as it says, never with 5xx, and store nothing when they are refused", async () => {
    const { requests, violations, statuses } = await fuzz(service, { seed: 7, requests: REQUESTS });
    expect(violations).toEqual([]);
    expect(requests).toBe(REQUESTS);
    expect(statuses[200]).toBeGreaterThan(REQUESTS / 20);
    expect(statuses[201]).toBeGreaterThan(REQUESTS / 50);
  }, 600_000);

  it("are seen to be answered otherwise", async () => {
    const description = JSON.parse(JSON.stringify(describeApi(ROUTES, [])));
    delete description.components.schemas.Variable.properties.version;
    delete description.paths["/repository"].get.responses["401"];
    description.components.schemas.Repository.properties.fullName = { type: "integer" };
    const { violations } = await fuzz(service, { seed: 8, requests: 1000, description });
    expect(violations.length).toBeGreaterThan(2);
  });

  it("are seen to have stored something when they were refused", async () => {
    const round = new Round(service, () => [], "fuzz-control");
    await round.begin();
    const { token } = await service.operator.call<{ token: string }>("POST", "/organization/fuzz-control/token");
    const untold = new Client(service.url, token);
    const unseen = new Date().toISOString();
    await untold.call("POST", "/secrets/groups", { name: "stored behind its back" });
    await round.end(unseen);
    expect(round.violations.map(({ what }) => what.split(",")[0]?.replace(/: .*/, ""))).toEqual([
      "group.create is in the audit",
      "/secrets/groups has what nobody was answered",
    ]);
  });
});
