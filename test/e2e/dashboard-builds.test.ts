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
  describe("of builds", () => builds(stage));
  describe("of builds of several jobs", () => jobs(stage));
  describe("of a log", () => log(stage));
  describe("of a log with groups", () => logGroups(stage));
  describe("of a log with wide lines", () => wideLog(stage));
  describe("of what asks for attention", () => attention(stage));
  describe("of what people act on", () => answers(stage));
});
