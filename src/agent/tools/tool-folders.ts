import { mkdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";

/** The name of the tools' folder in that of a build, and of a link to it beside: so each build's tools have one path. */
export const TOOLS_FOLDER = "tools";

/** Folders in it that mise writes to. With a step user they are that user's; the folder itself is the agent's. */
export const TOOL_FOLDERS = ["data", "cache", "state", "config", "home", "tmp", "run"];

const linkBeside = (buildFolder: string): string => join(dirname(buildFolder), TOOLS_FOLDER);

/** Makes the folder of a build's tools. @returns it, and the path that it has in each build */
export const makeToolsFolder = (buildFolder: string): { folder: string; root: string } => {
  const folder = join(buildFolder, TOOLS_FOLDER);
  const root = linkBeside(buildFolder);
  mkdirSync(folder, { mode: 0o700 });
  rmSync(root, { force: true });
  symlinkSync(folder, root);
  return { folder, root };
};

/** Removes the link to the tools of this build. */
export const removeToolsLink = (buildFolder: string): void => {
  const link = linkBeside(buildFolder);
  try {
    if (readlinkSync(link) === join(buildFolder, TOOLS_FOLDER)) rmSync(link);
  } catch {
    // There is none, or it is no link.
  }
};
