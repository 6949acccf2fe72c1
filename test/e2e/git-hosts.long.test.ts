import { afterAll, beforeAll, describe, it } from "vitest";
import { expectGoodManners, type Stage, setUp, tearDown } from "./git-hosts/stage.ts";
import { troubles } from "./git-hosts/troubles.ts";

const stage = {} as Stage;

beforeAll(() => setUp(stage, ["one"]));
afterAll(() => tearDown(stage));

describe("a connected repository in bad times", () => troubles(stage));

it("asks a host only what its API describes, and one thing at a time", () => expectGoodManners(stage, 4));
