import { REGISTRY_VERSION } from "../../pipeline/fields/tool-names.ts";

/** The release of mise that tools are set up with: the one whose registry `check` knows. */
export const MISE_VERSION = REGISTRY_VERSION;

/** Its program for Linux on x64, in a package of npm that has nothing but it. Another version needs another hash. */
export const MISE_PACKAGE = {
  name: "@jdxcode/mise-linux-x64",
  file: `mise-linux-x64-${MISE_VERSION}.tgz`,
  /** Of the package's tarball, as npm's registry tells it too. */
  sha512: "ButPFGyztN0Rk/HOHvHuf+W80CkvQRAjbDWHvhGJc3PnL3e2KhCYZIOyjx8wPkhr9VJa/7sJZXpxtt5JLjsfaQ==",
  /** Where the program lies in the tarball. */
  member: "package/bin/mise",
} as const;

/** Whether `version` is that release or a later one: both are YEAR.MONTH.NUMBER. */
export const isRecentEnough = (version: string): boolean => {
  const [pinned, actual] = [MISE_VERSION, version].map((one) => one.split(".").map(Number));
  if (!pinned || actual?.length !== pinned.length || actual.some(Number.isNaN)) return false;
  const differs = pinned.findIndex((part, index) => part !== actual[index]);
  return differs < 0 || (actual[differs] ?? 0) > (pinned[differs] ?? 0);
};
