import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parsePlan } from "../../../src/domain/plan/parse.ts";

const GOOD = `name: Build \${{ build.number }}
env: &e
  A: 1.10
  B: "\${{ A }}-\${{ secrets.TOKEN || 'x' }}"
requires: { platform: linux, labels: [x, "y:z"] }
checkout: { depth: 0, submodules: recursive }
steps:
  - id: one
    run: |
      echo \${{ B }} '$x' "in \${{ vars.V }}"
      cat <<EOF
      \${{ build.branch }} $(( 1 + 2 ))
      EOF
      case \${{ A }} in a) echo;; esac; if [[ x == \${{ A }} ]]; then :; fi
  - name: Use it
    if: always() && (vars.NOPE == null || contains(fromJSON('["a"]'), B))
    env: *e
    shell: sh
    run: >-
      echo \${{ steps.one.outputs.x }}
      and more
  - { run: "echo \\"\${{ format('{0}}}', A) }}\\"", shell: pwsh }
`;
const BITS = [
  ...["${{", "}}", "'", '"', "\n", "\n  - ", ": ", "&a ", "*a", "- ", "[", "]", "{", "}", "|", ">-", "#", "\t", "\0"],
  ...["\ud800", "🎉", "<<EOF\n", "$(", "((", ")", "`", "\\", "${", "!x ", "---\n", "? ", "%YAML 1.1\n", "<<: ", "if: "],
  ...["\r", "\u2028", "&a [*a]", "constructor", "__proto__: x\n", "~", "null", ".inf", "\xa0"],
];
const at = fc.nat({ max: GOOD.length });
const change = fc.oneof(
  fc.record({ at, cut: fc.nat({ max: 12 }), put: fc.constant("") }),
  fc.record({ at, cut: fc.nat({ max: 1 }), put: fc.constantFrom(...BITS) }),
  fc.record({ at, cut: fc.constant(0), put: at.map((from) => GOOD.slice(from, from + 60)) }),
);
const mutated = fc
  .array(change, { minLength: 1, maxLength: 6 })
  .map((changes) => changes.reduce((text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut), GOOD));

describe("mutated files", () => {
  it("never crash, and have a plan or mistakes with a place in the file", () => {
    const seen = { plans: 0, wrong: 0 };
    expect(parsePlan(GOOD).mistakes).toBeUndefined();
    fc.assert(
      fc.property(mutated, (file) => {
        const { plan, mistakes } = parsePlan(file);
        if (plan) seen.plans++;
        else {
          seen.wrong++;
          expect(mistakes.length).toBeGreaterThan(0);
          for (const { line, column } of mistakes) {
            expect(line).toBeGreaterThan(0);
            expect(line).toBeLessThanOrEqual(file.split("\n").length);
            expect(column).toBeGreaterThan(0);
          }
        }
      }),
      { numRuns: Number(process.env.MUTATED_FILES ?? 3000) },
    );
    expect(Math.min(seen.plans, seen.wrong)).toBeGreaterThan(50);
  });
});

describe("files made to be slow or to grow", () => {
  const fill = (text: string): string => text.repeat(Math.floor(262_000 / text.length));
  it.each([
    ["[", "The file is nested too deeply"],
    ["{a: ", "The file is nested too deeply"],
    ["- ", "The file is nested too deeply"],
    ["? ", "The file is nested too deeply"],
    ["&a ", "The file is nested too deeply"],
    ["!a ", "The file is nested too deeply"],
    ["xxxxxxxxxxx", "This must be a mapping, with `key: value` on each line"],
  ])("%s over and over", (text, message) => {
    expect(parsePlan(fill(text)).mistakes).toMatchObject([{ message }]);
  });

  it("are read no further than 262,144 characters", () => {
    expect(parsePlan(`steps: [{ run: x }]\n#${"x".repeat(262_144)}`).mistakes?.[0]?.message).toContain("262144");
  });

  it("by aliases are cut off", () => {
    const keys = Array.from({ length: 2000 }, (_, index) => `K${index}: x`).join(", ");
    const steps = "  - { run: a, env: *e }\n".repeat(400);
    const message = "The file is nested too deeply, or its aliases make it too large";
    expect(parsePlan(`env: &e { ${keys} }\nsteps:\n${steps}`).mistakes).toMatchObject([{ message }]);
    expect(parsePlan("steps: &a [*a]").mistakes).toMatchObject([{ line: 1, column: 12 }]);
  });

  it("tell of no more than 200 mistakes", () => {
    expect(parsePlan(`name: "${"${{ a b }}".repeat(5000)}"\nsteps: [{ run: x }]`).mistakes).toHaveLength(200);
  });

  it("nested in a script are a mistake too", () => {
    const { mistakes } = parsePlan(`steps:\n  - run: '${"$(".repeat(60_000)}'`);
    expect(mistakes?.[0]?.message).toContain("nested too deeply");
  });
});
