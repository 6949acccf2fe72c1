import packageJson from "../../package.json" with { type: "json" };

/** The version of the service, its description, its pages and the agent. All of them have the same number. */
export const VERSION: string = packageJson.version;

/** The version of the protocol between agent and service. */
export const PROTOCOL = 1;
