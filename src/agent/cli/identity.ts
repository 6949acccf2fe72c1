import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import * as z from "zod/mini";
import { Id } from "../../protocol/common.ts";
import { parseJson } from "../parse-json.ts";
import { EXIT, ExitError } from "./exit-codes.ts";

/** The registered agent. This file is the only place where the agent writes its token. */
export const Identity = z.object({
  url: z.string(),
  id: Id,
  orgId: z.string(),
  name: z.string(),
  token: z.string(),
  isEphemeral: z.boolean(),
  canBuildIOS: z.boolean(),
  canBuildAndroid: z.boolean(),
  canBuildWeb: z.boolean(),
  labels: z.array(z.string()),
  heartbeatSeconds: z.number().check(z.positive()),
  pollSeconds: z.number().check(z.positive()),
});
export type Identity = z.infer<typeof Identity>;

const FILE = "identity.json";

/** Returns the default state folder: the current folder for a checkout, or the home folder for the installed bundle. */
export const defaultStateFolder = (): string =>
  import.meta.url.endsWith(".ts") ? resolve(".millrace/agent") : join(homedir(), ".millrace");

/** Creates the folder if needed. Closes a new or existing folder to other users. */
export const makeStateFolder = (folder: string): string => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  return folder;
};

export const findIdentity = (folder: string): Identity | null => {
  let text: string;
  try {
    text = readFileSync(join(folder, FILE), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new ExitError(`cannot read ${join(folder, FILE)} (${(error as NodeJS.ErrnoException).code})`, EXIT.failed);
  }
  const identity = Identity.safeParse(parseJson(text));
  if (identity.success) return identity.data;
  throw new ExitError(`${join(folder, FILE)} is damaged: remove it, then run register again`, EXIT.notRegistered);
};

/** Reads the identity. @throws ExitError when no agent is registered in this folder */
export const loadIdentity = (folder: string): Identity => {
  const identity = findIdentity(folder);
  if (identity) return identity;
  throw new ExitError(`no agent is registered in ${folder}: run register first`, EXIT.notRegistered);
};

/** Writes a new file and renames it, so that the old or the new identity is complete after a crash. */
export const saveIdentity = (folder: string, identity: Identity): void => {
  const path = join(makeStateFolder(folder), FILE);
  const fresh = `${path}.${process.pid}`;
  rmSync(fresh, { force: true });
  writeFileSync(fresh, `${JSON.stringify(identity, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  renameSync(fresh, path);
};

export const forgetIdentity = (folder: string): void => rmSync(join(folder, FILE), { force: true });
