import { REGISTRY_VERSION } from "../../pipeline/fields/tool-names.ts";

/** The mise release that sets up tools. `check` knows the same release's registry. */
export const MISE_VERSION = REGISTRY_VERSION;

/**
 * Mise's program for Linux on x64, in an npm package that contains only the program. Another version needs another
 * hash.
 */
export const MISE_PACKAGE = {
  name: "@jdxcode/mise-linux-x64",
  file: `mise-linux-x64-${MISE_VERSION}.tgz`,
  /** The package tarball's hash, which npm's registry also publishes. */
  sha512: "ButPFGyztN0Rk/HOHvHuf+W80CkvQRAjbDWHvhGJc3PnL3e2KhCYZIOyjx8wPkhr9VJa/7sJZXpxtt5JLjsfaQ==",
  /** The program's path in the tarball. */
  member: "package/bin/mise",
} as const;

/** Reports whether `version` is MISE_VERSION or a later release. Both are YEAR.MONTH.NUMBER. */
export const isRecentEnough = (version: string): boolean => {
  const [pinned, actual] = [MISE_VERSION, version].map((one) => one.split(".").map(Number));
  if (!pinned || actual?.length !== pinned.length || actual.some(Number.isNaN)) return false;
  const differs = pinned.findIndex((part, index) => part !== actual[index]);
  return differs < 0 || (actual[differs] ?? 0) > (pinned[differs] ?? 0);
};
