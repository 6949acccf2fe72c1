import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MISSING_LICENCES } from "./missing-licences.ts";
import { ROOT } from "./output-files.ts";

const LICENCE = /^(licen[cs]e|notice|copying)/i;

/** The packages of these bundled files, as folders under node_modules. */
export const packagesOf = (files: string[]): string[] => {
  const folders = files.map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0]);
  return [...new Set(folders)].filter((folder) => folder !== undefined).sort();
};

const notice = (folder: string): string => {
  const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8"));
  const files = readdirSync(join(ROOT, folder)).filter((file) => LICENCE.test(file));
  const missing = MISSING_LICENCES[name];
  if (files.length === 0 && missing === undefined)
    throw new Error(`${name} has no licence file: find out whether it may be distributed`);
  const texts = files.map((file) => readFileSync(join(ROOT, folder, file), "utf8").trim());
  if (missing !== undefined) texts.push(missing);
  return [`${name} ${version} (${license})`, ...texts].join("\n\n");
};

/** The text that the packages' licences require wherever their code is distributed. */
export const noticesOf = (packages: string[]): string =>
  ["Millrace contains the following packages. These are their licences.", ...packages.map(notice)].join(
    `\n\n${"-".repeat(80)}\n\n`,
  );
