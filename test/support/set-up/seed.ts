import * as fc from "fast-check";

/* The same cases each time, so that a new failure means a change. `SEED=2` gives others. */
fc.configureGlobal({ seed: Number(process.env.SEED ?? 1) });
