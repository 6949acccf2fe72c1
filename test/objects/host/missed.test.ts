import { evictDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it } from "vitest";
import type { DeliveryNote } from "../../../src/githosts/core/delivery-note.ts";
import type { HostedAttempt } from "../../support/recording-host/host-state.ts";
import { installedApp } from "./app-support.ts";
import { setClockRight } from "./support.ts";

afterEach(setClockRight);

const MINUTE = 60_000;

/** Returns a delivery of a push that failed `minutesAgo`. */
const failed = (n: number, branch: string, minutesAgo: number, over: Partial<HostedAttempt> = {}): HostedAttempt => ({
  ...{ id: n, guid: `g${n}`, delivered_at: new Date(Date.now() - minutesAgo * MINUTE).toISOString() },
  ...{ redelivery: false, status: "Service Unavailable", status_code: 503, event: "push", action: null },
  ...{ repository_id: 41, payload: { ref: `refs/heads/${branch}` } },
  ...over,
});

const newestFirst = (attempts: HostedAttempt[]) =>
  attempts.toSorted((one, other) => other.delivered_at.localeCompare(one.delivered_at));

const noteOf = (id: string, over: Partial<DeliveryNote> = {}): DeliveryNote => ({
  ...{ id, at: Date.now(), event: "push", ref: "refs/heads/main", sha: null, builds: [], ignored: null },
  ...{ repository: { hostRepoId: 41, fullName: "acme/shop", defaultBranch: "main" }, arrival: null },
  ...over,
});

const LISTS = "/app/hook/deliveries";

/** Creates an App that has just delivered something, and whose next look is therefore soon. */
const furnished = async (attempts: () => HostedAttempt[] = () => []) => {
  const app = await installedApp();
  await app.host.noteDelivery(noteOf("first", { ref: "refs/heads/other" }));
  await app.later(MINUTE);
  await app.at.change({ attempts: newestFirst(attempts()) });
  const look = () => app.later(16 * MINUTE);
  const ordered = async () => (await app.at.seen()).ordered;
  const looks = async () =>
    (await app.at.seen()).requests.filter(({ method, path }) => method === "GET" && path === LISTS).length;
  return { ...app, look, ordered, looks };
};

describe("missed deliveries", () => {
  it("are requested again: the newest of each ref, and each once while a request is pending", async () => {
    const { look, ordered, at } = await furnished(() =>
      Array.from({ length: 12 }, (_, n) => failed(n + 1, `b${n % 3}`, 60 - n)),
    );
    await look();
    expect(await ordered()).toEqual([12, 11, 10]);
    const { requests } = await at.seen();
    expect(requests.flatMap(({ problems }) => problems)).toEqual([]);
    expect(
      requests
        .filter(({ path }) => path.startsWith(LISTS))
        .every(({ headers }) => headers.authorization?.startsWith("Bearer ey")),
    ).toBe(true);
  });

  it("are not requested if they arrived, or if a later delivery of their ref did", async () => {
    const { look, ordered, host } = await furnished(() => [failed(1, "main", 30), failed(2, "topic", 30)]);
    await host.noteDelivery(noteOf("g2", { ref: "refs/heads/topic" }));
    await host.noteDelivery(noteOf("later"));
    await look();
    expect(await ordered()).toEqual([]);
  });

  it("are requested at most three times, even if the object loses its memory", async () => {
    const { look, ordered, host } = await furnished(() => [failed(1, "main", 30)]);
    for (let n = 0; n < 6; n++) {
      await look();
      await evictDurableObject(host);
    }
    expect(await ordered()).toEqual([1, 1, 1]);
  });

  it("are read page by page", async () => {
    const { look, later, ordered } = await furnished(() => [
      ...Array.from({ length: 150 }, (_, n) => failed(n + 1, "main", 1 + n / 100)),
      failed(999, "deep", 30),
    ]);
    await look();
    expect(await ordered()).toEqual([1]);
    for (let n = 0; n < 4; n++) await later(MINUTE + 1_000);
    expect(await ordered()).toEqual([1, 999]);
  });

  it("wait for the next poll if GitHub does not answer", async () => {
    const { look, ordered, at } = await furnished(() => [failed(1, "main", 30)]);
    await at.change({ faults: [{ on: `GET ${LISTS}`, answer: 502, times: 1 }] });
    await look();
    expect(await ordered()).toEqual([]);
    await look();
    expect(await ordered()).toEqual([1]);
  });

  it("are polled for every quarter of an hour after a delivery, and hourly in quiet times", async () => {
    const { looks, later } = await furnished();
    for (let n = 0; n < 4; n++) await later(15 * MINUTE + 1_000);
    const busy = await looks();
    expect(busy).toBe(4);
    await later(25 * 60 * MINUTE);
    const before = await looks();
    await later(15 * MINUTE + 1_000);
    expect(await looks()).toBe(before);
    await later(60 * MINUTE);
    expect(await looks()).toBe(before + 1);
  });
});
