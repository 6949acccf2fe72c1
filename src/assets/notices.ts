import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./write.ts";

const LICENCE = /^(licen[cs]e|notice|copying)/i;

/** The packages, as folders under node_modules, that these bundled files are of. */
export const packagesOf = (files: string[]): string[] => {
  const folders = files.map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0]);
  return [...new Set(folders)].filter((folder) => folder !== undefined).sort();
};

const notice = (folder: string): string => {
  const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8"));
  const texts = readdirSync(join(ROOT, folder)).filter((file) => LICENCE.test(file));
  if (texts.length === 0) throw new Error(`${name} has no licence file: find out whether it may be handed on`);
  const words = texts.map((file) => readFileSync(join(ROOT, folder, file), "utf8").trim());
  return [`${name} ${version} (${license})`, ...words].join("\n\n");
};

/** What the licences of others ask to be said wherever their code is handed on. */
export const noticesOf = (packages: string[]): string =>
  ["Millrace is made with the following packages. These are their licences.", ...packages.map(notice)].join(
    `\n\n${"-".repeat(80)}\n\n`,
  );
