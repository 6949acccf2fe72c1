import { data } from "@actions/expressions";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Dictionary, isSecretData, textData, toData } from "../../../src/pipeline/expression/data.ts";
import {
  evaluate,
  evaluateCondition,
  evaluateText,
  type UnknownNames,
} from "../../../src/pipeline/expression/evaluate.ts";
import type { JobContextStatus } from "../../../src/pipeline/expression/functions.ts";
import { parseExpression } from "../../../src/pipeline/expression/parse.ts";
import { contextOfVariables, fixedContext, makeScope } from "../../../src/pipeline/expression/scope.ts";
import { ExpressionMistake } from "../../../src/pipeline/mistake.ts";

const VARS = [
  ["PLAIN", textData("plain")],
  ["constructor", textData("c")],
  ["__proto__", textData("p")],
  ["BUILD", textData("b")],
] as const;
const SECRETS = [
  ["TOKEN", textData("s3cret", true)],
  ["CONFIG", textData('{"a":{"b":"deep"},"n":12345,"t":true}', true)],
] as const;
const EMPTY = new Dictionary([]);
const CONTEXTS = {
  vars: contextOfVariables(VARS, {
    keys: new Set(["TOKEN", "CONFIG"]),
    message: "This is a secret",
    context: "secrets",
  }),
  secrets: contextOfVariables(SECRETS, {
    keys: new Set(VARS.map(([key]) => key)),
    message: "This is not a secret",
    context: "vars",
  }),
  env: contextOfVariables([...VARS, ...SECRETS, ["build", textData("x")], ["format", textData("x")]]),
  build: fixedContext([
    ["branch", textData("main")],
    ["number", toData(7)],
  ]),
  repository: EMPTY,
  agent: EMPTY,
  steps: EMPTY,
  job: EMPTY,
};
const scope = (status: JobContextStatus = "success") => makeScope(CONTEXTS, status);
const run = (source: string, unknown: UnknownNames = "mistake") => evaluate(parseExpression(source), scope(), unknown);
const plain = (value: ReturnType<typeof run>): unknown => {
  if (value.kind === data.Kind.Array) return (value as data.Array).values().map(plain);
  if (value.kind === data.Kind.Dictionary)
    return Object.fromEntries((value as data.Dictionary).pairs().map((pair) => [pair.key, plain(pair.value)]));
  return value.kind === data.Kind.Null ? null : (value as data.StringData).value;
};
const mistakeOf = (act: () => unknown) => {
  try {
    act();
  } catch (error) {
    if (error instanceof ExpressionMistake)
      return { message: error.message, offset: error.offset, suggestion: error.suggestion };
    throw error;
  }
  return null;
};

describe("names", () => {
  it.each([
    ["vars.PLAIN", "plain"],
    ["vars['PLAIN']", "plain"],
    ["secrets.TOKEN", "s3cret"],
    ["env.TOKEN", "s3cret"],
    ["PLAIN", "plain"],
    ["TOKEN", "s3cret"],
    ["BUILD", "b"],
    ["env.build", "x"],
    ["env['format']", "x"],
    ["build.branch", "main"],
    ["build.number == '7'", true],
    ["vars[format('{0}{1}', 'PL', 'AIN')]", "plain"],
  ])("%s is found", (source, value) => {
    expect(plain(run(source))).toBe(value);
  });

  it.each([
    ["vars.plain", "There is no variable with this name", 5, "PLAIN"],
    ["  plain", "There is no variable with this name", 2, "PLAIN"],
    ["Vars.PLAIN", "There is no variable with this name", 0, "vars"],
    ["vars.TOKEN", "This is a secret", 5, "secrets.TOKEN"],
    ["secrets.PLAIN", "This is not a secret", 8, "vars.PLAIN"],
    ["build.branche", "This context has no such property", 6, "branch"],
    ["format('{0}', NOPE)", "There is no variable with this name", 14, undefined],
    ["'a' || NOPE2 || NOPE3 && 'x'", null, 0, undefined],
    ["null || NOPE", "There is no variable with this name", 8, undefined],
    ["(NOPE || NOPE2)", "There is no variable with this name", 9, undefined],
  ])("with mistakes: %s: %s", (source, message, offset, suggestion) => {
    expect(mistakeOf(() => run(source))).toEqual(message === null ? null : { message, offset, suggestion });
  });

  it("are null if unknown in a condition and left of ||", () => {
    expect(plain(run("NOPE == null && vars.NOPE == null && env['NOPE'] == null", "null"))).toBe(true);
    expect(plain(run("NOPE || 'default'"))).toBe("default");
    expect(plain(run("(format('{0}', vars.NOPE) || env.NOPE) || 'default'"))).toBe("default");
  });

  it("are a mistake even there if they have the wrong kind", () => {
    expect(mistakeOf(() => run("vars.TOKEN == null", "null"))?.suggestion).toBe("secrets.TOKEN");
    expect(mistakeOf(() => run("secrets.PLAIN || 'x'"))?.suggestion).toBe("vars.PLAIN");
  });
});

describe("a value from an expression with a secret", () => {
  it.each([
    ...[
      "secrets.TOKEN",
      "TOKEN",
      "env.TOKEN",
      "format('{0}', TOKEN)",
      "format(TOKEN)",
      "join(fromJSON('[1,2]'), TOKEN)",
    ],
    ...["fromJSON(secrets.CONFIG).a.b", "fromJSON(CONFIG).n", "toJSON(secrets)", "NOPE || TOKEN", "TOKEN && TOKEN"],
    ...[
      "join(secrets.*, '-')",
      "toJSON(fromJSON(CONFIG))",
      "case(true, TOKEN, 'x')",
      "format('{0}', fromJSON(CONFIG).n)",
    ],
  ])("%s is secret", (source) => {
    expect(isSecretData(run(source))).toBe(true);
  });

  it.each([
    ...[
      "PLAIN",
      "TOKEN == 's3cret'",
      "TOKEN && 'yes' || 'no'",
      "contains(TOKEN, 'x')",
      "case(TOKEN == 'x', TOKEN, 'n')",
    ],
    ...["startsWith(TOKEN, 's')", "toJSON(vars)", "fromJSON(CONFIG).t", "!TOKEN", "'s3cret'"],
  ])("%s is not secret", (source) => {
    expect(isSecretData(run(source))).toBe(false);
  });
});

describe("the job's status", () => {
  const TABLE: [call: string, success: boolean, failure: boolean, cancelled: boolean][] = [
    ["success()", true, false, false],
    ["failure()", false, true, false],
    ["always()", true, true, true],
    ["cancelled()", false, false, true],
  ];
  const STATUSES = ["success", "failure", "cancelled"] as const;
  it.each(
    TABLE.flatMap(([call, ...expected]) => STATUSES.map((status, index) => [call, status, expected[index]!] as const)),
  )("%s after %s is %s", (call, status, expected) => {
    expect(evaluateCondition(parseExpression(call), scope(status))).toBe(expected);
    expect(evaluateCondition(parseExpression(`${call} && true`), scope(status))).toBe(expected);
  });

  it.each([
    ["true", "success", true],
    ["true", "failure", false],
    ["true", "cancelled", false],
    ["!cancelled()", "failure", true],
  ] as const)("%s after %s is %s: without a status function success() is meant", (source, status, expected) => {
    expect(evaluateCondition(parseExpression(source), scope(status))).toBe(expected);
  });

  it("has no status function in a text", () => {
    expect(evaluateCondition(parseExpression("'always()'"), scope("failure"))).toBe(false);
  });
});

describe("three defects of the library", () => {
  it("299 characters of nested format() produce 100 MB: here a result is limited", () => {
    const doubled = Array.from({ length: 27 }).reduce<string>((inner) => `format('{0}{0}',${inner})`, "'12345678'");
    expect(doubled.length).toBeLessThan(500);
    expect(mistakeOf(() => run(doubled))?.message).toBe("The result is too large");
    const wide = `format('${"{0}".repeat(6000)}', format('${"{0}".repeat(900)}', 'aaaaaaaaaa'))`;
    expect(mistakeOf(() => run(wide))?.message).toBe("The result is too large");
    const many = Array.from({ length: 40 }, () => `join(fromJSON('["${"a".repeat(400)}"]'), '')`).join(" == ");
    expect(plain(run(many))).toBe(false);
  });

  it("all functions of one expression together are limited too", () => {
    const big = `format('${"{0}".repeat(100)}', format('${"{0}".repeat(25)}', '${"a".repeat(100)}'))`;
    expect((plain(run(big)) as string).length).toBe(250_000);
    const often = Array.from({ length: 20 }, () => `contains(${big}, 'x')`).join(" || ");
    expect(mistakeOf(() => run(often))?.message).toBe("The expression produces too much text");
  });

  it("keys named constructor or __proto__ are dropped: here they are kept, in input and output", () => {
    expect(plain(run("vars.constructor"))).toBe("c");
    expect(plain(run("vars['__proto__']"))).toBe("p");
    expect(plain(run("constructor"))).toBe("c");
    const source = `'{"__proto__":{"a":1},"constructor":2,"toString":3}'`;
    expect(plain(run(`fromJSON(${source}).constructor`))).toBe(2);
    expect(plain(run(`fromJSON(${source}).__proto__.a`))).toBe(1);
    expect(JSON.parse(plain(run(`toJSON(fromJSON(${source}))`)) as string)).toEqual(
      JSON.parse('{"__proto__":{"a":1},"constructor":2,"toString":3}'),
    );
    expect(mistakeOf(() => run("vars.toString"))?.message).toBe("There is no variable with this name");
  });

  it.each(["constructor()", "toString()", "hasOwnProperty('x')", "__proto__()", "valueOf(1)"])(
    "%s parses there: here it is no function",
    (source) => {
      expect(mistakeOf(() => parseExpression(source))).toMatchObject({
        message: "There is no such function",
        offset: 0,
      });
    },
  );

  it("only the first '' of a text is unescaped: here all are", () => {
    expect(plain(run("'it''s ''two'''"))).toBe("it's 'two'");
  });
});

describe("limits and mistakes", () => {
  it("include a limit of depth", () => {
    const nested = (levels: number) => `'${"[".repeat(levels)}${"]".repeat(levels)}'`;
    expect(plain(run(`toJSON(fromJSON(${nested(64)})) != ''`))).toBe(true);
    expect(mistakeOf(() => run(`fromJSON(${nested(65)})`))?.message).toBe("The JSON is nested too deeply");
    expect(mistakeOf(() => run(`fromJSON(${nested(9000)})`))?.message).toBe("The JSON is nested too deeply");
  });

  it("never quote the text", () => {
    const secret = textData("{ s3cret", true);
    const contexts = { ...CONTEXTS, secrets: contextOfVariables([["BAD", secret]]) };
    for (const source of ["fromJSON(secrets.BAD)", "format(secrets.BAD)"]) {
      const said = mistakeOf(() => evaluate(parseExpression(source), makeScope(contexts, "success"), "mistake"));
      expect(said).toMatchObject({ message: expect.not.stringContaining("s3cret"), offset: 0 });
    }
  });

  it("reject an array or object as text", () => {
    expect(mistakeOf(() => evaluateText(parseExpression("vars"), scope()))?.message).toContain("toJSON");
    expect(evaluateText(parseExpression("toJSON(fromJSON('[]'))"), scope()).text).toBe("[]");
  });

  it.each([
    ["1 +", 2],
    ["a b", 2],
    ["'open", 0],
    ["(1", 1],
    ["!", 0],
    ['"x"', 0],
    ["format(", 6],
    ["x.", 2],
    ["\n\n  a b", 6],
    ["'a\nb' c", 6],
    [`${"(".repeat(60)}1`, 50],
  ])("%j is wrong at %i", (source, offset) => {
    expect(mistakeOf(() => parseExpression(source))).toMatchObject({ offset });
  });

  it("never crash, for any text", () => {
    const piece = fc.constantFrom(
      ...[
        "(",
        ")",
        "[",
        "]",
        ".",
        ",",
        "*",
        "!",
        "==",
        "<",
        "||",
        "&&",
        "'",
        "''",
        " ",
        "\n",
        "-1",
        "0x1",
        "1e9",
        "NaN",
      ],
      ...[
        "vars",
        "secrets",
        "x",
        "format",
        "toJSON",
        "fromJSON",
        "case",
        "join",
        "success",
        "constructor",
        "null",
        "🎉",
      ],
    );
    let parsed = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const said = mistakeOf(() => {
          const expression = parseExpression(pieces.join(""));
          parsed++;
          evaluate(expression, scope(), "null");
        });
        if (said) expect(said.offset).toBeLessThanOrEqual(pieces.join("").length);
      }),
      { numRuns: 3000 },
    );
    expect(parsed).toBeGreaterThan(100);
  });
});
