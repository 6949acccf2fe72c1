import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { serviceUrl } from "../../../src/agent/cli/register.ts";
import { backOffDelay, DEFAULT_BACK_OFF, parseRetryAfter } from "../../../src/agent/wire/back-off.ts";
import { ApiClient, describeAnswer, TokenRefused, Unreachable } from "../../../src/agent/wire/client.ts";
import { type StubResponse, startStubServer } from "../support/stub-server.ts";

const QUICK = { initial: 1, max: 5 };
const clientOf = (url: string) => new ApiClient({ url, token: "mra_secret", bootId: "boot", backOff: QUICK });

const serviceWith = (replies: StubResponse[]) =>
  startStubServer(() => replies.shift() ?? { status: 200, body: { ok: true } });

describe("a call to the service", () => {
  it.each([
    ["no answer at all", { drop: true }],
    ["overload", { status: 503, body: {} }],
    ["an error of the service", { status: 500, body: {} }],
    ["too many requests", { status: 429, body: {} }],
  ] as [string, StubResponse][])("is repeated after %s", async (_, trouble) => {
    const service = await serviceWith([trouble, trouble]);
    expect(await clientOf(service.url).send({ method: "GET", path: "/x" })).toEqual({
      status: 200,
      body: { ok: true },
      failures: 2,
    });
    expect(service.requests).toHaveLength(3);
    await service.close();
  });

  it.each([201, 204, 302, 400, 403, 404, 409, 413, 422])("is not repeated after %i", async (status) => {
    const service = await serviceWith([{ status }]);
    expect((await clientOf(service.url).send({ method: "POST", path: "/x", body: {} })).status).toBe(status);
    expect(service.requests).toHaveLength(1);
    await service.close();
  });

  it("has the headers of the agent and the lease", async () => {
    const service = await serviceWith([]);
    await clientOf(service.url).send({ method: "POST", path: "/x", body: { a: 1 }, lease: 42 });
    const [{ headers, body }] = service.requests as [(typeof service.requests)[0]];
    expect(headers).toMatchObject({
      authorization: "Bearer mra_secret",
      "x-boot-id": "boot",
      "x-lease": "42",
      "content-type": "application/json",
    });
    expect(JSON.parse(body.toString())).toEqual({ a: 1 });
    await service.close();
  });

  it("never follows a redirect with its token", async () => {
    const thief = await serviceWith([]);
    const service = await serviceWith([{ status: 307, headers: { Location: `${thief.url}/x` } }]);
    expect((await clientOf(service.url).send({ method: "GET", path: "/x" })).status).toBe(307);
    expect(thief.requests).toEqual([]);
    await service.close();
    await thief.close();
  });

  it("ends at once with advice if the service rejects the token", async () => {
    const service = await serviceWith([{ status: 401 }]);
    const refused = clientOf(service.url).send({ method: "GET", path: "/x" });
    await expect(refused).rejects.toThrow(TokenRefused);
    await expect(refused).rejects.toThrow(/Register it again/);
    await service.close();
  });

  it("fails after its last try, and reports the reason", async () => {
    const service = await serviceWith([{ drop: true }, { drop: true }]);
    const url = service.url;
    await expect(clientOf(url).send({ method: "GET", path: "/x", maxTries: 2 })).rejects.toThrow(Unreachable);
    await service.close();
    await expect(clientOf(url).send({ method: "GET", path: "/x", maxTries: 2 })).rejects.toThrow(/ECONNREFUSED/);
  });

  it("ends during a wait if its signal is aborted", async () => {
    const end = new AbortController();
    const service = await startStubServer(() => {
      setImmediate(() => end.abort(new Error("enough")));
      return { status: 503, headers: { "Retry-After": "500" } };
    });
    await expect(clientOf(service.url).send({ method: "GET", path: "/x", signal: end.signal })).rejects.toThrow(
      "enough",
    );
    await service.close();
  });

  it("describes an answer by the service's problem", () => {
    const problem = { type: "/problems/invalid", title: "Invalid", status: 422, detail: "look", requestId: "r" };
    expect(
      describeAnswer({ status: 422, body: { ...problem, errors: [{ pointer: "/name", detail: "is empty" }] } }),
    ).toBe("422 Invalid; look; /name: is empty");
    expect(describeAnswer({ status: 502, body: null })).toBe("status 502");
  });
});

describe("the wait between tries", () => {
  it("doubles up to its limit, with jitter", () => {
    expect([0, 1, 2, 3, 10].map((repeat) => backOffDelay(repeat, DEFAULT_BACK_OFF, 1))).toEqual([
      1000, 2000, 4000, 8000, 60_000,
    ]);
    fc.assert(
      fc.property(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (repeat, random) => {
        const wait = backOffDelay(repeat, DEFAULT_BACK_OFF, random);
        expect(wait).toBeGreaterThanOrEqual(500);
        expect(wait).toBeLessThanOrEqual(60_000);
      }),
    );
    expect(backOffDelay(3, DEFAULT_BACK_OFF, 0)).not.toBe(backOffDelay(3, DEFAULT_BACK_OFF, 1));
  });

  it.each([
    ["7", 7000],
    ["0", null],
    ["-1", null],
    ["soon", null],
    ["", null],
    [null, null],
    ["99999", 600_000],
    ["Thu, 01 Jan 1970 00:00:09 GMT", 4000],
    ["Thu, 01 Jan 1970 00:00:01 GMT", null],
  ])("converts Retry-After %j to %j milliseconds", (header, expected) => {
    expect(parseRetryAfter(header, 5000)).toBe(expected);
  });
});

describe("the service's address", () => {
  it.each([
    ["https://mill.example/", "https://mill.example"],
    ["http://localhost:8787", "http://localhost:8787"],
    ["http://127.0.0.1:8787/", "http://127.0.0.1:8787"],
    ["http://[::1]:8787", "http://[::1]:8787"],
  ])("%s is accepted", (text, expected) => expect(serviceUrl(text)).toBe(expected));

  it.each([
    "http://mill.example",
    "http://127.0.0.1.example.com",
    "http://localhost.example.com",
    "ftp://localhost",
    "https://user:pass@mill.example",
    "mill.example",
    "",
  ])("%s is rejected", (text) => expect(() => serviceUrl(text)).toThrow(/--url (must|may)/));
});
