import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { markLinks, splitAtLinks } from "../../../src/dashboard/log-viewer/client/links.ts";

const linksOf = (line: string) => {
  const { text, links } = markLinks(line);
  return splitAtLinks(text, links, null).parts.flatMap(({ text: shown, href }) =>
    href === null ? [] : [[shown, href]],
  );
};
const osc8 = (address: string, text: string, end = "\x07") => `\x1b]8;;${address}${end}${text}\x1b]8;;${end}`;

describe("log links", () => {
  it("are URLs without the punctuation that ends a sentence", () => {
    expect(linksOf("see https://a.example/x?y=1#z, (http://b.example/c). 'https://d.example'")).toEqual([
      ["https://a.example/x?y=1#z", "https://a.example/x?y=1#z"],
      ["http://b.example/c", "http://b.example/c"],
      ["https://d.example", "https://d.example"],
    ]);
  });

  it("include terminal hyperlinks with either terminator", () => {
    expect(linksOf(`a ${osc8("https://a.example", "the page")} b`)).toEqual([["the page", "https://a.example"]]);
    expect(linksOf(osc8("https://a.example", "x", "\x1b\\"))).toEqual([["x", "https://a.example"]]);
  });

  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)//https://a.example",
    "data:text/html,<script>alert(1)</script>",
    "file:///etc/passwd",
    "vbscript:x",
    "//a.example",
    "https://",
    `https://a.example/${"x".repeat(3000)}`,
  ])("exclude an address that is not on the web: %j", (address) => expect(linksOf(osc8(address, "click"))).toEqual([]));

  it("leave the text unchanged, and all lead to the web", () => {
    const piece = fc.oneof(
      fc.string({ maxLength: 20 }).map((text) => text.replace(/[\x01\x02\x07\x1b]/g, "")),
      fc.constantFrom("https://a.example/b", "http://", "https://[", " ", ")", "javascript:x"),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const line = pieces.join("");
        const { text, links } = markLinks(line);
        const { parts } = splitAtLinks(text, links, null);
        expect(parts.map((part) => part.text).join("")).toBe(line);
        for (const { href } of parts) if (href !== null) expect(new URL(href).protocol).toMatch(/^https?:$/);
      }),
    );
  });
});
