import type { Example } from "../../src/api/description/examples.ts";
import type { Exchange } from "./replay.ts";
import { settle } from "./settle.ts";

/** What was said as the description shows it: with the same names on every run for what differs from run to run. */
export const examplesOf = (exchanges: Exchange[]): Example[] =>
  settle(exchanges.map(({ method: _, path: __, responseHeaders: ___, ...example }) => example));
