import packageJson from "../../package.json" with { type: "json" };

/** The one version number: of the service, its description, its pages and the agent's program. */
export const VERSION: string = packageJson.version;

/** The agent protocol spoken here. */
export const PROTOCOL = 1;
