import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fetchAgents, missingFeatures } from "../../src/local/deploy-check.ts";
import { FEATURES } from "../../src/protocol/jobs.ts";

describe("the features of a deployment's agents", () => {
  const server = createServer(({ url, headers }, response) => {
    if (headers.authorization !== "Bearer right") return response.writeHead(401).end();
    const isFirst = url === "/buildagent";
    if (isFirst) response.setHeader("Link", '</buildagent?cursor=x>; rel="next"');
    const features = isFirst ? FEATURES : ["environment"];
    return response.end(
      JSON.stringify([
        { name: isFirst ? "new" : "middle", features },
        { name: "old", features: [] },
      ]),
    );
  });
  let service = "";

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    service = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  it("are read page by page, and missing ones are listed with the agents' names", async () => {
    const agents = await fetchAgents(service, "right");
    expect(agents.map(({ name }) => name)).toEqual(["new", "old", "middle", "old"]);
    expect(missingFeatures(agents)).toEqual([
      "environment: old, old",
      ...FEATURES.slice(1).map((feature) => `${feature}: old, middle, old`),
    ]);
    expect(missingFeatures([{ name: "new", features: [...FEATURES, "later"] }])).toEqual([]);
  });

  it("are unknown if the service rejects the token", async () => {
    await expect(fetchAgents(service, "wrong")).rejects.toThrow("401");
  });
});
