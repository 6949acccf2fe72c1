import { describe } from "vitest";
import { OLDEST_RELEASE } from "../releases/last.ts";
import { testTakeOver } from "./upgrade/take-over.ts";

describe("a deploy over the oldest release from which a service may upgrade", () => testTakeOver(OLDEST_RELEASE));
