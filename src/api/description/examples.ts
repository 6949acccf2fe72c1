import type { Example } from "./example.ts";

export const EXAMPLES: Example[] = [];
