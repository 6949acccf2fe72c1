import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { type Colour, contrast, over, readOklch, toLinear } from "./oklch.ts";

const SHEETS = globSync("src/dashboard/*/*.css");
const SHEET = readFileSync("src/dashboard/shell/theme.css", "utf8");
const THEMES = ["light", "dark"] as const;
const GROUNDS = ["ground", "panel", "rail", "hover"];
const HUES = ["water", "slate", "amber", "green", "red", "grey", "violet", "orange"];
/** WCAG 2.2, 1.4.3 and 1.4.11. */
const OF_TEXT = 4.5;
const OF_SHAPES = 3;
const TINT_PERCENT = 14;

/** Returns the colour tokens as linear sRGB. */
const coloursOf = (sheet: string, theme: (typeof THEMES)[number]): Map<string, Colour> => {
  const pairs = sheet.matchAll(/--([\w-]+): light-dark\((oklch\([^)/]*\)), (oklch\([^)/]*\))\);/g);
  return new Map(
    [...pairs].map(([, name = "", light = "", dark = ""]) => [name, toLinear(readOklch({ light, dark }[theme]))]),
  );
};

/** Returns the pairs of tokens whose contrast is too low. */
const tooLow = (sheet: string): string[] =>
  THEMES.flatMap((theme) => {
    const colours = coloursOf(sheet, theme);
    const of = (name: string): Colour => {
      const colour = colours.get(name);
      if (!colour) throw new Error(`the sheet has no --${name}`);
      return colour;
    };
    const found: string[] = [];
    const see = (what: string, one: Colour, other: Colour, least: number) => {
      const seen = contrast(one, other);
      if (seen < least) found.push(`${theme}: ${what} has ${seen.toFixed(2)}`);
    };
    for (const name of GROUNDS) {
      const ground = of(name);
      for (const text of ["ink", "soft"]) see(`${text} on ${name}`, of(text), ground, OF_TEXT);
      for (const hue of HUES) {
        const tinted = over(of(hue), TINT_PERCENT / 100, ground);
        see(`${hue}-text on ${name}`, of(`${hue}-text`), ground, OF_TEXT);
        see(`${hue}-text on ${hue}-fill on ${name}`, of(`${hue}-text`), tinted, OF_TEXT);
        see(`ink on ${hue}-fill on ${name}`, of("ink"), tinted, OF_TEXT);
        if (name !== "hover" && name !== "rail") see(`${hue} on ${name}`, of(hue), ground, OF_SHAPES);
      }
      for (const ansi of ["black", "blue", "cyan", "white"])
        see(`ansi-${ansi} on ${name}`, of(`ansi-${ansi}`), ground, OF_TEXT);
    }
    for (const name of ["mark", "chosen"]) see(`ink on ${name}`, of("ink"), of(name), OF_TEXT);
    see("on-water on water-text", of("on-water"), of("water-text"), OF_TEXT);
    return found;
  });

/** Returns the tokens that a sheet declares. `asked` returns the tokens in use. */
const tokens = (sheet: string): string[] => [...sheet.matchAll(/^ {2}(--[\w-]+):/gm)].map(([, name = ""]) => name);
const asked = (sheet: string): string[] => [...sheet.matchAll(/var\((--[\w-]+)/g)].map(([, name = ""]) => name);

describe("the design tokens", () => {
  const sheets = SHEETS.map((path) => readFileSync(path, "utf8"));
  const used = new Set(sheets.flatMap(asked));

  it("have distinct names", () => {
    const aliases = [...SHEET.matchAll(/^ {2}(--[\w-]+): var\(--[\w-]+\);/gm)].map(([, name = ""]) => name);
    expect(aliases.filter((name) => !name.startsWith("--ansi-"))).toEqual([]);
  });

  it("exist for every var() in the style sheets", () => {
    // The log's script counts the digits of its line numbers.
    const known = new Set(["--digits", ...sheets.flatMap(tokens)]);
    expect([...used].filter((name) => !known.has(name))).toEqual([]);
  });

  it("are all used", () => {
    const fills = HUES.map((hue) => `--${hue}-fill`);
    expect(tokens(SHEET).filter((name) => !used.has(name) && !fills.includes(name))).toEqual([]);
  });
});

describe("the pages' colors", () => {
  it("are readable on every background and on their own tint, in both themes", () => {
    expect(tooLow(SHEET)).toEqual([]);
  });

  it("have fills as strong as the tested ones", () => {
    const fills = [
      ...SHEET.matchAll(/--([a-z]+)-fill: color-mix\(in oklab, var\(--([a-z]+)\) (\d+)%, transparent\);/g),
    ];
    const wanted = HUES.map((hue) => [hue, hue, String(TINT_PERCENT)]);
    expect(fills.map(([, ...parts]) => parts).sort()).toEqual(wanted.sort());
  });

  it("fail the check if one is too pale", () => {
    const pale = SHEET.replace(/--amber-text: light-dark\(oklch\(50% /, "--amber-text: light-dark(oklch(68% ");
    expect(pale).not.toBe(SHEET);
    expect(tooLow(pale)).toContainEqual(expect.stringMatching(/^light: amber-text on ground has [23]\./));
  });

  it("are defined in one style sheet only", () => {
    const others = SHEETS.filter((path) => basename(path) !== "theme.css");
    expect(others).toContain("src/dashboard/build/waterfall.css");
    for (const name of others) {
      const sheet = readFileSync(name, "utf8");
      expect([name, sheet.match(/#[0-9a-f]{3,8}\b(?=[;, ])|\brgba?\(|\bhsla?\(|\boklch\(/g)]).toEqual([name, null]);
    }
  });
});

describe("the color converter", () => {
  it.each([
    ["oklch(100% 0 0)", [1, 1, 1]],
    ["oklch(0% 0 0)", [0, 0, 0]],
    ["oklch(62.796% 0.25768 29.234)", [1, 0, 0]],
    ["oklch(51.975% 0.17686 142.495)", [0, 0.2158, 0]],
    ["oklch(45.201% 0.31321 264.052)", [0, 0, 1]],
  ] as [string, Colour][])("converts %s", (text, wanted) => {
    const found = toLinear(readOklch(text));
    for (const [index, part] of wanted.entries()) expect(found[index]).toBeCloseTo(part, 2);
  });

  it("computes the contrast of black and white", () => {
    expect(contrast([0, 0, 0], [1, 1, 1])).toBe(21);
  });
});
