import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { hostFetch } from "../../src/githosts/core/host-fetch.ts";
import { LIMITS } from "../../src/protocol/limits.ts";

const servers: Server[] = [];

/** Serves a git host and records its requests. */
const serve = async (answer: RequestListener): Promise<{ url: string; asked: string[] }> => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? "nobody"}`);
    answer(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
};

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const headers = { Authorization: "Bearer canary" };
const post = { method: "POST", path: "/old", headers, body: { state: "success" } } as const;

it("a host request returns status, headers and text, and identifies the service", async () => {
  const { url } = await serve((request, response) => {
    response.writeHead(201, { "X-Seen": String(request.headers["user-agent"]) });
    request.pipe(response);
  });
  const answer = await hostFetch(url, post);
  expect(answer).toMatchObject({ status: 201, body: '{"state":"success"}', isCut: false, isMoved: false });
  expect("headers" in answer && answer.headers.get("X-Seen")).toMatch(/^millrace\/\d/);
});

it("a host request follows one redirect on the same origin, with the same method", async () => {
  const { url, asked } = await serve((request, response) => {
    response.writeHead(request.url === "/old" ? 301 : 201, { Location: "/new" }).end("{}");
  });
  expect(await hostFetch(url, post)).toMatchObject({ status: 201, isMoved: true });
  expect(asked).toEqual(["POST /old Bearer canary", "POST /new Bearer canary"]);
});

it("a host request sends the token to no other origin", async () => {
  const other = await serve((_, response) => response.end("{}"));
  const { url } = await serve((_, response) => response.writeHead(307, { Location: `${other.url}/x` }).end());
  expect(await hostFetch(url, post)).toEqual({ unreachable: "it redirects to another host" });
  for (const path of [".evil.example/x", "@evil.example/x", ":1/x", "/repos/../user/x", "/repos/%2E%2e/x"]) {
    expect(await hostFetch("https://git.example", { ...post, path })).toEqual({
      unreachable: "the address does not belong to the git host",
    });
  }
  expect(other.asked).toEqual([]);
});

it("a host request does not follow redirects in circles", async () => {
  const { url, asked } = await serve((_, response) => response.writeHead(301, { Location: "/old" }).end());
  expect(await hostFetch(url, post)).toEqual({ unreachable: "it redirects too often" });
  expect(asked).toHaveLength(2);
});

it("a host request stops reading an answer at the limit", async () => {
  const { url } = await serve((_, response) => response.end("x".repeat(10 * 1024 * 1024)));
  const answer = await hostFetch(url, post);
  expect(answer).toMatchObject({ status: 200, isCut: true, body: "x".repeat(LIMITS.hostAnswerBytes) });
});

it("a host request waits 10 s for a host that never answers, and for one that never ends", async () => {
  const silent = await serve(() => undefined);
  const endless = await serve((_, response) => response.write("{"));
  const answers = await Promise.all([hostFetch(silent.url, post), hostFetch(endless.url, post)]);
  expect(answers).toEqual(Array(2).fill({ unreachable: "it did not answer within 10 s" }));
});

it("a host request never reveals what it sent, whatever goes wrong", async () => {
  const broken = { ...post, headers: { Authorization: "Bearer can\nary" } };
  expect(await hostFetch("https://git.example", broken)).toEqual({ unreachable: "the connection failed" });
  expect(await hostFetch("http://127.0.0.1:1", post)).toEqual({ unreachable: "the connection failed" });
  expect(await hostFetch("not an address", post)).toEqual({ unreachable: "the connection failed" });
});
