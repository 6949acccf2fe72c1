import { parse, stringify } from "smol-toml";
import { isToolName, versionProblem } from "../../pipeline/fields/tool-fields.ts";

/** A tool with mise's name for it. */
export interface Tool {
  name: string;
  version: string;
}

/** A lock file's entry of one tool for this machine: the version, and the download's checksum. */
export interface LockedTool extends Tool {
  checksum: string;
}

/** Quotes text as a basic string of TOML 1.0, which has JSON's escapes. */
const quoted = (text: string): string => JSON.stringify(text).replaceAll("\x7f", "\\u007f");

/** Returns the only configuration that mise reads. */
export const configText = (tools: Tool[]): string =>
  ["[tools]", ...tools.map(({ name, version }) => `${quoted(name)} = ${quoted(version)}`), ""].join("\n");

/** Returns mise's name for this machine in lock files. */
export const miseMachine = (platform: string = process.platform, arch: string = process.arch): string =>
  `${platform === "darwin" ? "macos" : platform}-${arch}`;

export const LOCK_FILE = "mise.lock";

const CHECKSUM = /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}|blake3:[0-9a-f]{64})$/;

const toTable = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};

const toText = (value: unknown): string => (typeof value === "string" ? value : "");

/** Returns an entry's checksum for this machine. In the entry, `platforms.linux-x64` is one key or two nested ones. */
const findChecksum = (entry: Record<string, unknown>, machine: string): string => {
  const own = entry[`platforms.${machine}`] ?? toTable(entry.platforms)[machine];
  return toText(toTable(own).checksum);
};

const isVersionFor = (prefix: string, version: string): boolean =>
  prefix === version || version.startsWith(`${prefix}.`) || !/\d/.test(prefix);

/**
 * Reads each wanted tool's version and checksum for this machine from a lock file in the repository. Ignores the file's
 * addresses, and any other content.
 */
export const lockedTools = (text: string, tools: Tool[], machine = miseMachine()): LockedTool[] => {
  let read: Record<string, unknown>;
  try {
    read = toTable(toTable(parse(text)).tools);
  } catch {
    return [];
  }
  return tools.flatMap(({ name, version: wanted }) => {
    const rows = Object.hasOwn(read, name) ? [read[name]].flat().map(toTable) : [];
    for (const row of rows) {
      const [version, checksum] = [toText(row.version), findChecksum(row, machine)];
      if (!isToolName(name) || versionProblem(version) !== null || !isVersionFor(wanted, version)) continue;
      if (CHECKSUM.test(checksum)) return [{ name, version, checksum }];
    }
    return [];
  });
};

const platformTable = (entry: Record<string, unknown>, machine: string): Record<string, unknown> =>
  toTable(entry[`platforms.${machine}`]);

/**
 * Puts the repository's checksums into mise's lock file, and keeps mise's addresses. `unchecked` are the tools without
 * an address from mise, for which mise compares nothing.
 */
export const withChecksums = (
  lockText: string,
  locked: LockedTool[],
  machine = miseMachine(),
): { text: string; unchecked: string[] } => {
  const whole = parse(lockText);
  const tools = toTable(whole.tools);
  const unchecked: string[] = [];
  for (const { name, version, checksum } of locked) {
    const rows = Object.hasOwn(tools, name) ? [tools[name]].flat().map(toTable) : [];
    const checked = rows.map((row) => {
      const own = platformTable(row, machine);
      if (row.version !== version || toText(own.url) === "") return { row, isChecked: false };
      return { row: { ...row, [`platforms.${machine}`]: { ...own, checksum } }, isChecked: true };
    });
    if (!checked.some(({ isChecked }) => isChecked)) unchecked.push(name);
    tools[name] = checked.map(({ row }) => row);
  }
  return { text: stringify({ ...whole, tools }), unchecked };
};
