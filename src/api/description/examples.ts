import type { Example } from "./example.ts";
import recorded from "./examples.json" with { type: "json" };

/** What the service answered when the examples were last recorded (`npm run examples`); the tests ask it again. */
export const EXAMPLES = recorded as Example[];
