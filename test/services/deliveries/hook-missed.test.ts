import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it } from "vitest";
import { gitHostName } from "../../../src/domain/durable-objects.ts";
import type { GitHostObject } from "../../../src/objects/host/git-host.ts";
import type { Build } from "../../../src/protocol/build.ts";
import { passTime, setClockRight } from "../../objects/host/support.ts";
import { call } from "../../support/api.ts";
import { newAppConnection } from "../../support/app-connection.ts";
import { newBuildSetup } from "../../support/build-setup.ts";
import { attachRepository, deliver, eventHeaders } from "../../support/hooks.ts";
import { newPush } from "../../support/host-events.ts";
import type { HostedAttempt } from "../../support/recording-host/host-state.ts";

afterEach(setClockRight);

const MINUTE = 60_000;
const PUSHES = 30;
const BRANCHES = 3;

const shaOf = (n: number): string => n.toString(16).padStart(2, "0").repeat(20);

/** An hour of consecutive pushes to three branches, all while the service is unavailable. */
const pushes = Array.from({ length: PUSHES }, (_, n) => {
  const before = n < BRANCHES ? "0".repeat(40) : shaOf(n + 1 - BRANCHES);
  return { guid: `guid-${n}`, body: newPush(shaOf(n + 1), { ref: `refs/heads/b${n % BRANCHES}`, before }) };
});

const attemptOf = (n: number): HostedAttempt => ({
  ...{ id: n + 1, guid: pushes[n]!.guid, delivered_at: new Date(Date.now() - (62 - 2 * n) * MINUTE).toISOString() },
  ...{ redelivery: false, status: "failed to connect", status_code: 503, event: "push", action: null },
  ...{ repository_id: 1, payload: pushes[n]!.body },
});

it("each newest head is built once after an hour without the service", async () => {
  const setup = await newBuildSetup();
  const { admin, orgId } = setup;
  await call(admin, "PUT", `/pipeline/${setup.pipeline.id}`, { on: { push: { branches: ["**"] } } });
  const { hook, host } = await newAppConnection(orgId);
  await attachRepository(setup.repository.id, hook);
  const object = (env.GIT_HOST as DurableObjectNamespace<GitHostObject>).getByName(
    gitHostName(orgId, hook.connectionId),
  );
  await deliver(hook, eventHeaders("github", "ping"), { zen: "Keep it logically awesome." });
  await object.connectionChanged();
  await host.change({ attempts: pushes.map((_, n) => attemptOf(n)).toReversed() });
  passTime(16 * MINUTE);
  await runDurableObjectAlarm(object);
  const { ordered, requests } = await host.seen();
  expect(ordered).toEqual([30, 29, 28]);
  expect(requests.flatMap(({ problems }) => problems)).toEqual([]);
  for (const id of [...ordered, ...ordered]) {
    const { guid, body } = pushes[id - 1]!;
    expect((await deliver(hook, eventHeaders("github", "push", guid), body)).status).toBe(202);
  }
  passTime(16 * MINUTE);
  await runDurableObjectAlarm(object);
  expect((await host.seen()).ordered).toEqual(ordered);
  const builds = (await call<Build[]>(admin, "GET", "/build")).body;
  expect(builds.map(({ commitSha }) => commitSha).toSorted()).toEqual([28, 29, 30].map(shaOf));
});
