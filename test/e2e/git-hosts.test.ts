import { afterAll, beforeAll, describe, it } from "vitest";
import { files } from "./git-hosts/files.ts";
import { otherHosts } from "./git-hosts/other-hosts.ts";
import { pushes } from "./git-hosts/pushes.ts";
import { refs } from "./git-hosts/refs.ts";
import { expectGoodManners, type Stage, setUp, tearDown } from "./git-hosts/stage.ts";

/* The service, real agents and real git, with git hosts on loopback. */

const stage = {} as Stage;

beforeAll(() => setUp(stage, ["one", "two", "three", "four"]));
afterAll(() => tearDown(stage));

// The tests run at the same time: their builds mostly wait for each other, and a GitHub accepts one state a second.
describe.concurrent("a connected repository", () => {
  describe("on GitHub", () => pushes(stage));
  describe("with moved or removed refs", () => refs(stage));
  describe("with conditions in its file", () => files(stage));
  describe("on another host", () => otherHosts(stage));
});

it("all requests to the host match its API description, one at a time", () => expectGoodManners(stage, 30));
