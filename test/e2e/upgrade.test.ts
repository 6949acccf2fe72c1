import { describe } from "vitest";
import { OLDEST_RELEASE } from "../releases/last.ts";
import { testTakeOver } from "./upgrade/take-over.ts";

describe("an upgrade from the oldest supported release", () => testTakeOver(OLDEST_RELEASE));
