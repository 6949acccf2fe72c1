import type { Example } from "../../src/api/description/examples.ts";
import type { Exchange } from "./replay.ts";
import { stabilize } from "./stable-values.ts";

/** Converts the exchanges to examples for the description, with values that are the same on every run. */
export const toExamples = (exchanges: Exchange[]): Example[] =>
  stabilize(exchanges.map(({ method: _, path: __, responseHeaders: ___, ...example }) => example));
