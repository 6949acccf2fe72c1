/** The name of the tools' folder in that of a build, and of a link to it beside: so each build's tools have one path. */
export const TOOLS = "tools";

/** Folders in it that mise writes to. With a step user they are that user's; the folder itself is the agent's. */
export const TOOL_FOLDERS = ["data", "cache", "state", "config", "home", "tmp", "run"];
