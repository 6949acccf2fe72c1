import { afterAll, beforeAll, describe, it } from "vitest";
import { expectGoodManners, type Stage, setUp, tearDown } from "./git-hosts/stage.ts";
import { troubles } from "./git-hosts/troubles.ts";

const stage = {} as Stage;

beforeAll(() => setUp(stage, ["one"]));
afterAll(() => tearDown(stage));

describe("a connected repository during outages", () => troubles(stage));

it("all requests to the host match its API description, one at a time", () => expectGoodManners(stage, 4));
