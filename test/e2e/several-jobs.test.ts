import { afterAll, beforeAll, describe } from "vitest";
import { Machine } from "../support/local/machine.ts";
import { startLocalService } from "../support/local/service.ts";
import { gates } from "./several-jobs/gates.ts";
import { graph } from "./several-jobs/graph.ts";
import { kills } from "./several-jobs/kills.ts";
import { lies } from "./several-jobs/lies.ts";
import { names } from "./several-jobs/names.ts";
import type { Stage } from "./several-jobs/stage.ts";
import { stops } from "./several-jobs/stops.ts";

/* The service, real git, and three real agents: a Mac with iOS, Linux with Android, and one for the web. */

/* Short leases, so that what waits for their end does not wait long. */
const VARS = { START_SECONDS: "5", LEASE_SECONDS: "20", HEARTBEAT_SECONDS: "1", POLL_SECONDS: "20" };

const stage = { projects: [] as unknown } as Stage;

beforeAll(async () => {
  stage.service = await startLocalService(VARS);
  stage.client = await stage.service.newOrganization("acme");
  const machine = (name: "mac" | "android" | "web") => Machine.start(stage.service, stage.client, name);
  [stage.mac, stage.android, stage.web] = await Promise.all([machine("mac"), machine("android"), machine("web")]);
});
afterAll(async () => {
  for (const project of stage.projects) project.mark("go");
  await Promise.all([stage.mac, stage.android, stage.web].map((machine) => machine?.stop()));
  await stage.service?.remove();
});

describe("a build of several jobs", () => {
  describe("that fans out", () => graph(stage));
  describe("that is held up", () => stops(stage));
  describe("that asks a person", () => gates(stage));
  describe("whose agents die", () => kills(stage));
  describe("among enemies", () => {
    lies(stage);
    names(stage);
  });
});
