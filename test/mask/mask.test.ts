import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allForms, groupedForms } from "../../src/mask/forms.ts";
import { compile, Masker, maskText } from "../../src/mask/mask.ts";
import { expected, latin } from "./oracle.ts";

const CASES = Number(process.env.MASK_CASES ?? 500);
const bytes = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));

/** Cuts a text at ascending places. */
const cut = (text: string, places: number[]): string[] => {
  const at = [0, ...places.map((place) => place % (text.length + 1)).sort((a, b) => a - b), text.length];
  return at.slice(1).map((end, n) => text.slice(at[n], end));
};

const whole = (masker: Masker, chunks: string[]): string =>
  chunks.map((chunk) => latin(masker.push(bytes(chunk)))).join("") + latin(masker.end());

/** Like the service, which may forget the masker after any chunk and then receives the unreleased bytes again. */
const interrupted = (secrets: Uint8Array[], chunks: string[], stops: boolean[]): string => {
  const text = chunks.join("");
  const needles = compile(secrets);
  let masker = new Masker(needles);
  let out = "";
  let fed = 0;
  chunks.forEach((chunk, n) => {
    out += latin(masker.push(bytes(text.slice(fed, fed + chunk.length))));
    fed += chunk.length;
    if (!stops[n % stops.length]) return;
    const position = masker.position;
    masker = new Masker(needles, position);
    out += latin(masker.push(bytes(text.slice(position.offset, fed))));
  });
  return out + latin(masker.end());
};

const letters = (alphabet: string, maxLength: number) =>
  fc.array(fc.constantFrom(...alphabet), { minLength: 1, maxLength }).map((chars) => chars.join(""));
const periodic = fc
  .tuple(letters("ab", 4), fc.integer({ min: 1, max: 90 }), letters("abc", 3))
  .map(([unit, times, tail]) => unit.repeat(times) + tail);
const secretText = fc.oneof(
  letters("ab", 6),
  letters("ab'\"\\$ \n", 12),
  letters("aB3+/%é\n\r<&", 40),
  periodic,
  fc.string({ unit: "binary", minLength: 1, maxLength: 30 }).map((text) => latin(new TextEncoder().encode(text))),
);

/** Texts of the secrets' forms, complete, cut or wrapped, and of other text between them. */
const scenario = fc
  .tuple(
    fc.array(secretText, { minLength: 1, maxLength: 5 }),
    fc.array(
      fc.record({
        pick: fc.nat(),
        from: fc.nat({ max: 3 }),
        less: fc.constantFrom(0, 0, 0, 1, 2, 9),
        wrap: fc.constantFrom(0, 0, 0, 20, 23, 64),
        gap: fc.constantFrom("\n", "\r\n", "\n  ", "\n\n\t"),
        early: fc.constantFrom(0, 0, 0, 1, 3, 7),
        between: fc.oneof(
          letters("ab \n=", 5),
          letters("abAB+-_/01", 30),
          fc.constant("Ab0_-+/".repeat(3)),
          fc.constant(""),
        ),
        url: fc.boolean(),
      }),
      { maxLength: 8 },
    ),
    fc.array(fc.nat(), { maxLength: 12 }),
    fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
  )
  .map(([texts, pieces, places, stops]) => {
    const secrets = texts.map(bytes);
    const { plain, wrapped } = groupedForms(secrets);
    const forms = [...plain, ...wrapped].map(latin);
    const text = pieces
      .map(({ pick, from, less, wrap, early, gap, between, url }) => {
        const form = forms[pick % forms.length]!;
        let piece = form.slice(from === 3 ? 1 : 0, form.length - less);
        if (url) piece = piece.replaceAll("+", "-").replaceAll("/", "_");
        if (wrap > 0) piece = piece.replace(new RegExp(`[^]{${wrap}}`, "g"), `$&${gap}`);
        if (early > 0) piece = piece.slice(0, early) + gap + piece.slice(early);
        return between + piece;
      })
      .join("");
    return { secrets, text, chunks: cut(text, places), stops };
  });

describe("masking", () => {
  it("prints the union of all matches, wherever the stream is cut", () => {
    fc.assert(
      fc.property(scenario, ({ secrets, text, chunks }) => {
        expect(whole(new Masker(secrets), chunks)).toBe(expected(secrets, text));
      }),
      { numRuns: CASES },
    );
  });

  it("resumes from its position as if it had never stopped", () => {
    fc.assert(
      fc.property(scenario, ({ secrets, text, chunks, stops }) => {
        expect(interrupted(secrets, chunks, stops)).toBe(expected(secrets, text));
      }),
      { numRuns: CASES },
    );
  });

  it("applies later secrets to everything that is not released yet", () => {
    fc.assert(
      fc.property(scenario, fc.nat(), ({ secrets, text, chunks }, pick) => {
        const late = secrets.slice(1);
        const at = pick % (chunks.length + 1);
        const masker = new Masker(secrets.slice(0, 1));
        const before = chunks.slice(0, at).map((chunk) => latin(masker.push(bytes(chunk))));
        const position = masker.position;
        masker.add(late);
        const fresh = new Masker(secrets, position);
        expect(whole(masker, chunks.slice(at))).toBe(whole(fresh, [text.slice(position.offset)]));
        expect(expected(secrets.slice(0, 1), text).startsWith(before.join(""))).toBe(true);
      }),
      { numRuns: CASES / 5 },
    );
  });

  it("masks the longest token that a git host mints as a whole, wherever the stream is cut", () => {
    const token = `ghs_${Array.from({ length: 516 }, (_, n) => "aZ09-_."[(n * n + 3 * n) % 7]).join("")}`;
    const secret = bytes(token);
    const log = `fatal: https://x-access-token:${token}@github.com/a/b: 403\n`;
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 9 }), (places) => {
        expect(whole(new Masker([secret]), cut(log, places))).toBe(log.replace(token, "***"));
      }),
      { numRuns: CASES / 5 },
    );
  });

  it("holds back only text that could begin a secret", () => {
    fc.assert(
      fc.property(scenario, ({ secrets, text }) => {
        const { plain, wrapped } = groupedForms(secrets);
        const masker = new Masker(secrets);
        masker.push(bytes(text));
        const held = text.slice(masker.position.offset);
        const unwrapped = held
          .replaceAll("-", "+")
          .replaceAll("_", "/")
          .replace(/[\r\n \t]/g, "");
        expect(
          held === "" ||
            plain.some((needle) => latin(needle).startsWith(held)) ||
            wrapped.some((needle) => latin(needle).startsWith(unwrapped)),
        ).toBe(true);
      }),
      { numRuns: CASES / 5 },
    );
  });

  it("fails the test if it leaks", () => {
    const forgets = fc.property(scenario, ({ secrets, text, chunks }) => {
      expect(chunks.map((chunk) => whole(new Masker(secrets), [chunk])).join("")).toBe(expected(secrets, text));
    });
    const longestOnly = fc.property(scenario, ({ secrets, text }) => {
      const forms = allForms(secrets)
        .map(latin)
        .sort((a, b) => b.length - a.length);
      const pattern = new RegExp(
        forms
          .map((form) => form.replace(/[\s\S]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`))
          .join("|"),
        "g",
      );
      expect(text.replace(pattern, "***").replace(/(\*\*\*)+/g, "***")).toBe(expected(secrets, text));
    });
    expect(fc.check(forgets, { numRuns: CASES }).failed).toBe(true);
    expect(fc.check(longestOnly, { numRuns: CASES }).failed).toBe(true);
  });
});

describe("every form of a secret", () => {
  const SECRETS = [
    "hunter2-hunter2",
    "päss wörd/<&>\"'$x`\\",
    "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nab\n-----END KEY-----\n",
    "s'e''c\"r$e%t!",
    "0123456789abcdef".repeat(9),
  ];

  it.each(SECRETS)("is masked wherever it is cut: %j", (secret) => {
    const needles = compile([secret]);
    for (const form of allForms([secret]).map(latin)) {
      const want = maskedAround(form, secret);
      for (let at = 0; at <= form.length + 4; at++) {
        const text = `k={${form}}\n`;
        expect(whole(new Masker(needles), [text.slice(0, at), text.slice(at)])).toBe(want);
      }
      expect(whole(new Masker(needles), [...`k={${form}}\n`])).toBe(want);
    }
  });

  const maskedAround = (form: string, secret: string): string => {
    const want = expected([new TextEncoder().encode(secret)], `k={${form}}\n`);
    expect(want).toBe("k={***}\n");
    return want;
  };

  it("releases an endless run, and says how far its mask reaches", () => {
    const masker = new Masker(["aaaa"]);
    expect(latin(masker.push(bytes("a".repeat(1000))))).toBe("***");
    expect(masker.position).toMatchObject({ offset: 997, covered: 1000 });
    expect(latin(masker.push(bytes("a".repeat(1000))))).toBe("");
    expect(latin(masker.push(bytes("b")))).toBe("b");
    expect(masker.hits).toBe(1);
  });

  it("is not searched for if there are no secrets", () => {
    expect(maskText([], "text")).toBe("text");
    expect(maskText([""], "text")).toBe("text");
    expect(maskText(["***"], "a *** b")).toBe("a *** b");
    expect(maskText(["ä"], "\ufeffäh")).toBe("\ufeff***h");
  });
});
