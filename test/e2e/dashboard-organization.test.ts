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
  describe("for its first hour", () => firstHour(stage));
  describe("of many agents", () => fleet(stage));
  describe("of connections", () => connections(stage));
  describe("of a GitHub App", () => githubApp(stage));
  describe("for who is signed in", () => session(stage));
  describe("by the local link", () => signInLink(stage));
  describe("under forged requests", () => forgery(stage));
  describe("without a script", () => withoutScript(stage));
});
