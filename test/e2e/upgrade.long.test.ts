import { describe } from "vitest";
import { lastReleaseWith } from "../releases/last.ts";
import { testTakeOver } from "./upgrade/take-over.ts";

describe("a deploy over the last release", () => testTakeOver(lastReleaseWith("worker.js.gz")));
