import packageJson from "../../package.json" with { type: "json" };

/** The version of the service, its description, its pages and the agent: one number for all. */
export const VERSION: string = packageJson.version;

/** The version of the protocol between agent and service. */
export const PROTOCOL = 1;
