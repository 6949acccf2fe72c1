import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ParsedBody, readBody } from "../../src/githosts/core/body.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Reads every body like a large one. */
const readLarge = (bytes: Uint8Array) => readBody(bytes, 0);

/** Returns the expected result for a large body: the parser's value without the list. */
const oracle = (text: string): ParsedBody => {
  const fields = JSON.parse(text) as Record<string, unknown>;
  const { commits } = fields;
  return { fields: typeof commits === "object" && commits !== null ? { ...fields, commits: null } : fields };
};

const space = fc.constantFrom("", "", " ", "\n", "\r\n\t ");
const escaped = (text: string) =>
  `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")}"`;
const literal = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.boolean()).map(([value, isEscaped]) => (isEscaped ? escaped(value) : JSON.stringify(value)));

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({ unit: fc.constantFrom('"', "\\", "[", "]", "{", "}", ",", ":", "commits", " ") }),
);
const name = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.constantFrom("commits", "ref", "commit", "commits\\", '"commits"', "commits ", "Commits"),
  },
  { weight: 1, arbitrary: anyText.filter((text) => text !== "__proto__") },
);

/** JSON texts in every spelling, with duplicate names. */
const { object } = fc.letrec<{ value: string; object: string; list: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    literal(anyText),
    fc.constantFrom("null", "true", "false", "0", "-1.5e3", "9007199254740993"),
    tie("object"),
    tie("list"),
  ),
  list: fc
    .tuple(
      space,
      fc.array(
        fc.tuple(tie("value"), space).map((parts) => parts.join("")),
        { maxLength: 4 },
      ),
    )
    .map(([gap, values]) => `[${gap}${values.join(`,${gap}`)}]`),
  object: fc
    .array(fc.tuple(space, literal(name), space, space, tie("value")), { maxLength: 6 })
    .map((entries) => `{${entries.map(([a, key, b, c, value]) => `${a}${key}${b}:${c}${value}`).join(",")}}`),
}));

const agrees = (read: (bytes: Uint8Array) => ParsedBody) =>
  fc.check(
    fc.property(space, object, space, (before, text, after) => {
      expect(read(bytesOf(before + text + after))).toEqual(oracle(text));
    }),
    { numRuns: 500 },
  );

describe("a large body", () => {
  it("is read as the parser would read it, except for the list", () => {
    expect(fc.defaultReportMessage(agrees(readLarge))).toBeUndefined();
  });

  it.each<[string, (text: string) => string]>([
    ["mistakes the first bracket for the end", (text) => text.replace(/"commits":\s*\[[^\]]*\]/, '"commits":null')],
    [
      "looks at every level",
      (text) => JSON.stringify(JSON.parse(text, (key, value) => (key === "commits" ? null : value))),
    ],
    ["keeps the list", (text) => text],
  ])("is tested so that a reader fails that %s", (_, cut) => {
    const wrong = (bytes: Uint8Array) => readBody(bytesOf(cut(new TextDecoder().decode(bytes))));
    expect(agrees(wrong).failed).toBe(true);
  });

  it("is read in full up to a mebibyte", () => {
    const padded = (length: number) => bytesOf(`{"commits":[1],"ref":"${"x".repeat(length - 24)}"}`);
    expect(padded(1024 * 1024)).toHaveLength(1024 * 1024);
    expect(readBody(padded(1024 * 1024))).toMatchObject({ fields: { commits: [1] } });
    expect(readBody(padded(1024 * 1024 + 1))).toMatchObject({ fields: { commits: null } });
  });

  it("is read at the largest size that hosts send", () => {
    const commit = { id: "a".repeat(40), message: 'Say "hello" \\ [there] {', added: ["a/b.ts", "ü"], removed: [] };
    const list = Array(150_000).fill(JSON.stringify(commit)).join(",");
    const body = bytesOf(`{"ref":"refs/heads/main","commits":[${list}],"after":"b"}`);
    expect(body.length).toBeGreaterThan(18_000_000);
    expect(readBody(body)).toEqual({ fields: { ref: "refs/heads/main", commits: null, after: "b" } });
  });

  it("is not read if its other fields are large too", () => {
    const body = bytesOf(`{"commits":[],"other":[${"[],".repeat(1_500_000)}[]]}`);
    expect(readBody(body)).toMatchObject({ kind: "ignored", reason: expect.stringContaining("4 MiB") });
  });
});

describe("bytes that no host sends", () => {
  const nested = (levels: number) => `${'{"a":['.repeat(levels)}${"]}".repeat(levels)}`;

  it.each<[string, Uint8Array]>([
    ["nothing", bytesOf("")],
    ["space", bytesOf(" \n")],
    ["a list", bytesOf('[{"ref":1}]')],
    ["a text", bytesOf('"ref"')],
    ["null", bytesOf("null")],
    ["half of an object", bytesOf('{"ref":"refs/heads/')],
    ["an object that is not closed", bytesOf('{"commits":[')],
    ["an extra bracket", bytesOf('{"a":1}]')],
    ["two objects", bytesOf("{}{}")],
    ["a form", bytesOf("payload=%7B%7D")],
    ["XML", bytesOf("<a/>")],
    ["no UTF-8", Uint8Array.of(0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d)],
    ["UTF-16", Uint8Array.of(0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00)],
    ["__proto__", bytesOf('{"__proto__":{"kind":"x"}}')],
    ["__proto__ deep down", bytesOf('{"commits":[{"a":{"__proto__" :1}}]}')],
    ["__proto__ in other letters", bytesOf('{"\\u005f_proto__":1}')],
    ["65 levels", bytesOf(nested(33))],
    ["10,000 levels", bytesOf(nested(5_000))],
    ["10,000 levels of lists", bytesOf(`{"commits":${"[".repeat(10_000)}${"]".repeat(10_000)}}`)],
    ["a million brackets", bytesOf("[".repeat(1_000_000))],
    ["backslashes and quotes", bytesOf('\\"'.repeat(100_000))],
  ])("are reported: %s", (_, bytes) => {
    for (const read of [readBody, readLarge]) {
      expect(read(bytes)).toEqual({ problem: expect.stringMatching(/^The body (is|has) [^\n"]+\.$/) });
    }
  });

  it("do not include similar but valid bodies", () => {
    expect(readBody(bytesOf('{"title":"__proto__"}'))).toEqual({ fields: { title: "__proto__" } });
    expect(readBody(bytesOf(`{"title":"${"[".repeat(10_000)}"}`))).toHaveProperty("fields");
    expect(readBody(bytesOf(nested(32)))).toHaveProperty("fields");
    expect(readBody(bytesOf('\ufeff{"a":1}'))).toEqual({ fields: { a: 1 } });
  });

  it("never make the reader throw", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }).filter(([first]) => first !== 0x7b),
        (bytes) => {
          for (const read of [readBody, readLarge]) expect(read(bytes)).toHaveProperty("problem");
        },
      ),
    );
    const alphabet = fc.constantFrom('"', "\\", "{", "}", "[", "]", ":", ",", " ", '"commits":', "1");
    fc.assert(
      fc.property(fc.string({ unit: alphabet, maxLength: 40 }), (text) => {
        for (const read of [readBody, readLarge]) expect(read(bytesOf(`{"commits":[${text}`))).toBeTypeOf("object");
      }),
    );
  });
});
