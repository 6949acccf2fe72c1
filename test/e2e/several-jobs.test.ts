import { afterAll, beforeAll, describe } from "vitest";
import { gates } from "./several-jobs/gates.ts";
import { graph } from "./several-jobs/graph.ts";
import { kills } from "./several-jobs/kills.ts";
import { lies } from "./several-jobs/lies.ts";
import { names } from "./several-jobs/names.ts";
import { type Stage, setUp, tearDown } from "./several-jobs/stage.ts";
import { stops } from "./several-jobs/stops.ts";

/* The service, real git, and three real agents: a Mac for iOS, Linux for Android, and one for the web. */

const stage = {} as Stage;

beforeAll(() => setUp(stage, ["mac", "android", "web"]));
afterAll(() => tearDown(stage));

describe("a build with several jobs", () => {
  describe("that fans out", () => graph(stage));
  describe("that is stopped or waits", () => stops(stage));
  describe("with gates", () => gates(stage));
  describe("with dying agents", () => kills(stage));
  describe("with hostile input", () => {
    lies(stage);
    names(stage);
  });
});
