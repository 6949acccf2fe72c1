import { gitWithCredential, type Remote } from "./remote.ts";

/** The whole name of the branch that the repository's host calls its default; null where it does not tell. */
export const defaultBranchOf = async (remote: Remote): Promise<string | null> => {
  const { code, stdout } = await gitWithCredential(remote, ["ls-remote", "--symref", "--", "origin", "HEAD"]);
  const ref = /^ref: (refs\/heads\/\S{1,400})\tHEAD$/m.exec(stdout.toString("utf8"))?.[1];
  return code === 0 && ref !== undefined ? ref : null;
};
