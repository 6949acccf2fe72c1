import { env, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import type { DeliveryNote } from "../../../src/githosts/core/delivery-note.ts";
import type { GitHostObject } from "../../../src/objects/host/git-host.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";

const hosts = env.GIT_HOST as DurableObjectNamespace<GitHostObject>;

const note = (id: string): DeliveryNote => ({
  ...{ id, at: 1, event: "push", repository: null, ref: null, sha: null },
  ...{ builds: [], ignored: "no pipeline builds this branch", arrival: null },
});

it("the object of a git host lists the latest deliveries, newest first", async () => {
  const host = hosts.getByName("acme/deliveries");
  for (let n = 0; n <= LIMITS.deliveries; n++) await host.noteDelivery(note(String(n)));
  const found = await host.deliveries(LIMITS.deliveries + 1);
  expect(found.map(({ id }) => id)).toEqual(
    Array.from({ length: LIMITS.deliveries }, (_, n) => String(LIMITS.deliveries - n)),
  );
});

it("the object of a git host keeps no delivery that was noted after its connection was deleted", async () => {
  const host = hosts.getByName(`acme/${crypto.randomUUID()}`);
  await host.noteDelivery(note("late"));
  expect(await runDurableObjectAlarm(host)).toBe(true);
  const tables = await runInDurableObject(host, (_, { storage }) => [
    ...storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'delivery'"),
  ]);
  expect(tables).toEqual([]);
});
