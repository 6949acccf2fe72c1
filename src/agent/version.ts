/** What the agent says of itself when it registers and starts. */
export const VERSION = "0.1.0";

/** The agent protocol spoken here. */
export const PROTOCOL = 1;
