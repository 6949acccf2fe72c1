/** One tool, by the name that mise has for it. */
export interface Tool {
  name: string;
  version: string;
}

/** What a lock file says of one tool for this machine: the version, and the checksum of what is downloaded. */
export interface LockedTool extends Tool {
  checksum: string;
}

/** Text as a basic string of TOML 1.0, which has JSON's escapes. */
const quoted = (text: string): string => JSON.stringify(text).replaceAll("\x7f", "\\u007f");

/** The only configuration that mise reads. */
export const configText = (tools: Tool[]): string =>
  ["[tools]", ...tools.map(({ name, version }) => `${quoted(name)} = ${quoted(version)}`), ""].join("\n");

/** What mise calls this machine in its lock files. */
export const miseMachine = (platform: string = process.platform, arch: string = process.arch): string =>
  `${platform === "darwin" ? "macos" : platform}-${arch}`;
