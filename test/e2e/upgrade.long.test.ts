import { describe } from "vitest";
import { lastReleaseWith } from "../releases/last.ts";
import { testTakeOver } from "./upgrade/take-over.ts";

describe("an upgrade from the last release", () => testTakeOver(lastReleaseWith("worker.js.gz")));
