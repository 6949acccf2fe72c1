import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./output-files.ts";

const ISC = `The ISC License

HOLDERS

Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted,
provided that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL
IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT,
INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN
ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF
THIS SOFTWARE.`;

/** License texts from the repositories of packages that omit them. */
export const MISSING_LICENCES: Record<string, string> = {
  // https://github.com/lddubeau/saxes/blob/master/LICENSE
  saxes: ISC.replace("HOLDERS", "Copyright (c) Contributors\nCopyright (c) Isaac Z. Schlueter and Contributors"),
};

const LICENCE = /^(licen[cs]e|notice|copying)/i;

/** Returns the packages of these bundled files, as folders under node_modules. */
export const findPackages = (files: string[]): string[] => {
  const folders = files.map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0]);
  return [...new Set(folders)].filter((folder) => folder !== undefined).sort();
};

const notice = (folder: string): string => {
  const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8"));
  const files = readdirSync(join(ROOT, folder)).filter((file) => LICENCE.test(file));
  const missing = MISSING_LICENCES[name];
  if (files.length === 0 && missing === undefined)
    throw new Error(`${name} has no license file: find out whether it may be distributed`);
  const texts = files.map((file) => readFileSync(join(ROOT, folder, file), "utf8").trim());
  if (missing !== undefined) texts.push(missing);
  return [`${name} ${version} (${license})`, ...texts].join("\n\n");
};

/** Returns the text that the packages' licenses require with every distribution. */
export const collectNotices = (packages: string[]): string =>
  ["Millrace contains the following packages. Their licenses follow.", ...packages.map(notice)].join(
    `\n\n${"-".repeat(80)}\n\n`,
  );
