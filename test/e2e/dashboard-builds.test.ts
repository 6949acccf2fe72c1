import { describe } from "vitest";
import { answers } from "./dashboard/answers.ts";
import { attention } from "./dashboard/attention.ts";
import { builds } from "./dashboard/builds.ts";
import { jobs } from "./dashboard/jobs.ts";
import { log } from "./dashboard/log.ts";
import { logGroups } from "./dashboard/log-groups.ts";
import { setStage } from "./dashboard/stage.ts";
import { wideLog } from "./dashboard/wide-log.ts";

const stage = setStage();

describe("the dashboard", () => {
  describe("the build page", () => builds(stage));
  describe("pages of builds with several jobs", () => jobs(stage));
  describe("the log viewer", () => log(stage));
  describe("the log viewer with groups", () => logGroups(stage));
  describe("the log viewer with wide lines", () => wideLog(stage));
  describe("the browser tab", () => attention(stage));
  describe("for everyday questions", () => answers(stage));
});
