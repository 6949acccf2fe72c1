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
