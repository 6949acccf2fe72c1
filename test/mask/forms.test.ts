import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allForms } from "../../src/mask/forms.ts";
import { maskText } from "../../src/mask/mask.ts";

/** The mask must find the output of real encoders for a secret, independently of our own rules. */
const secretText = fc
  .string({ unit: "grapheme", minLength: 9, maxLength: 80 })
  .filter((text) => text.trim().length >= 9);

describe("a secret in a program's output", () => {
  it("is masked as base64 at every offset, in either alphabet, wrapped or not", () => {
    fc.assert(
      fc.property(
        fc
          .uint8Array({ minLength: 9, maxLength: 200 })
          .filter((bytes) => !/[\r\n]$/.test(Buffer.from(bytes).toString("latin1"))),
        fc.uint8Array({ maxLength: 70 }),
        fc.uint8Array({ maxLength: 5 }),
        fc.constantFrom(0, 64, 76),
        fc.constantFrom("\n", "\r\n", "\n    "),
        fc.constantFrom("base64" as const, "base64url" as const),
        (secret, before, after, width, lineBreak, alphabet) => {
          const whole = Buffer.concat([before, secret, after]).toString(alphabet);
          const wrapped = width === 0 ? whole : whole.replace(new RegExp(`.{${width}}`, "g"), `$&${lineBreak}`);
          const masked = maskText([secret], wrapped).replace(/[\r\n ]/g, "");
          const first = Math.ceil((before.length * 8) / 6);
          const last = Math.floor(((before.length + secret.length) * 8) / 6);
          const rest = whole.slice(last).length;
          expect(masked.length).toBeLessThanOrEqual(first + "***".length + rest);
          expect(masked.startsWith(whole.slice(0, first))).toBe(true);
        },
      ),
    );
  });

  it.each<[string, (secret: string) => string]>([
    ["JSON", (secret) => JSON.stringify(secret).slice(1, -1)],
    ["a URL's component", encodeURIComponent],
    ["a form", (secret) => new URLSearchParams({ "": secret }).toString().slice(1)],
    ["hexadecimal digits", (secret) => Buffer.from(secret).toString("hex")],
    ["upper case digits", (secret) => Buffer.from(secret).toString("hex").toUpperCase()],
    ["lines of a terminal", (secret) => secret.replaceAll("\n", "\r\n")],
  ])("is masked as %s", (_, encode) => {
    fc.assert(
      fc.property(secretText, (secret) => {
        const core = secret.replace(/[\r\n]+$/, "");
        expect(maskText([secret], `x=${encode(core)};`)).toBe("x=***;");
      }),
    );
  });

  const AWKWARD = [
    "ab'cd''ef'''gh",
    `'a"b"c d`,
    "tab\there and $HOME `id`",
    "back\\slash\\",
    "}#T1'G&!{$U_",
    "ünï cödé",
  ];
  const BASH = [`printf '%q' "$S"`, `printf '%s' "\${S@Q}"`, "export -p | grep 'x S='", `set -x; : "$S"`];

  it.each(["correct  horse\tbattery   staple", "  Zx9)bQ7 r'T5 plain 'quoted' ", "two lines\nand  more $HOME"])(
    "is masked where bash prints %j without quotes",
    (secret) => {
      const bash = (script: string): string =>
        execFileSync("bash", ["--norc", "-c", `exec 2>&1; set -f; ${script}`], {
          env: { PATH: process.env.PATH, S: secret, LC_ALL: "C.UTF-8" },
          encoding: "utf8",
        });
      expect(maskText([secret], bash("echo $S"))).toBe("***\n");
      expect(maskText([secret], bash("set -x; : $S"))).toBe("+ : ***\n");
    },
  );

  it("is masked as JSON in JSON", () => {
    fc.assert(
      fc.property(secretText, (secret) => {
        const core = secret.replace(/[\r\n]+$/, "");
        const twice = JSON.stringify(JSON.stringify({ core }));
        expect(maskText([secret], twice)).toBe(String.raw`"{\"core\":\"***\"}"`);
      }),
    );
  });

  it.each(AWKWARD.flatMap((secret) => BASH.map((script) => [secret, script])))(
    "is masked where bash prints %j in %s",
    (secret, script) => {
      for (const locale of ["C", "C.UTF-8"]) {
        const out = execFileSync("bash", ["--norc", "-c", `exec 2>&1; ${script}`], {
          env: { PATH: process.env.PATH, S: secret, LC_ALL: locale },
          stdio: ["ignore", "pipe", "pipe"],
        });
        const masked = maskText([secret], out.toString());
        expect(masked).toContain("***");
        for (const word of secret.match(/[a-zA-Z]{2,}|\d{2,}/g) ?? [])
          expect(masked.replace("S=", "")).not.toContain(word);
      }
    },
  );

  it("is masked line by line, except for very short lines", () => {
    const key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nab\n-----END KEY-----\n";
    expect(maskText([key], "| MIIEvQIBADANBgkq |\r\n| ab |")).toBe("| *** |\r\n| ab |");
    expect(maskText([key], key.replaceAll("\n", "\r\n"))).toBe("***");
  });

  it("does not hide similar text", () => {
    const text = "hunter2-hunter3 aHVudGVyMi1odW50ZXIz 68756e746572322d68756e74657233 Compiling module 42";
    expect(maskText(["hunter2-hunter2"], text)).toBe(text);
  });
});

describe("the forms of a value", () => {
  it("are only the value itself when it is short, and nothing when it is empty", () => {
    expect(allForms(["abc"]).map((form) => Buffer.from(form).toString())).toEqual(["abc"]);
    expect(allForms([""])).toEqual([]);
  });
});
