import { describe } from "vitest";
import { connections } from "./dashboard/connections.ts";
import { firstBuild } from "./dashboard/first-build.ts";
import { firstHour } from "./dashboard/first-hour.ts";
import { fleet } from "./dashboard/fleet.ts";
import { forgery } from "./dashboard/forgery.ts";
import { githubApp } from "./dashboard/github-app.ts";
import { session } from "./dashboard/session.ts";
import { signInLink } from "./dashboard/sign-in-link.ts";
import { setStage } from "./dashboard/stage.ts";
import { withoutScript } from "./dashboard/without-script.ts";

const stage = setStage();

describe("the dashboard", () => {
  describe("for a new organization", () => firstBuild(stage));
  describe("in the first hour", () => firstHour(stage));
  describe("with many agents", () => fleet(stage));
  describe("for connections", () => connections(stage));
  describe("for a GitHub App", () => githubApp(stage));
  describe("for a signed-in person", () => session(stage));
  describe("with the local sign-in link", () => signInLink(stage));
  describe("with forged requests", () => forgery(stage));
  describe("without scripts", () => withoutScript(stage));
});
