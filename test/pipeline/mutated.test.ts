import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expand } from "../../src/pipeline/graph/expand.ts";
import { collectQuestions } from "../../src/pipeline/graph/questions.ts";
import { parsePlan } from "../../src/pipeline/parse/parse.ts";

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
const GOOD_JOBS = `env: { A: x }
fail-fast: true
jobs:
  build: { outputs: { v: "\${{ steps.s.outputs.v }}" }, steps: [{ id: s, run: make }] }
  test: &t
    name: Test \${{ matrix.os }} on \${{ build.branch }}
    needs: [{ job: build, optional: true }]
    matrix:
      os: [mac, 26.10]
      device: [phone, true]
      exclude: [{ os: mac, device: phone }]
      include: [{ os: mac, ios: true }, { more: x }]
    max-parallel: 2
    continue-on-error: \${{ matrix.device }}
    requires: { ios: "\${{ matrix.ios }}", labels: ["x-\${{ matrix.os }}"] }
    steps:
      - run: echo \${{ matrix.os }} "\${{ needs.build.outputs.v }}"
  release:
    needs: [build, test]
    if: always() && needs.test.result == 'success' && changed('src/**', '!x') && vars.GO
    gate: { message: "Go \${{ build.branch }}?", by: admin, timeout-hours: 1 }
    concurrency: { group: "g-\${{ build.branch }}", limit: 2, when-busy: cancel-running }
    groups: [release]
    checkout: false
    steps: [{ run: "echo \${{ toJSON(needs.test.jobs) }}" }]
`;
const BITS = [
  ...["${{", "}}", "'", '"', "\n", "\n  - ", ": ", "&a ", "*a", "- ", "[", "]", "{", "}", "|", ">-", "#", "\t", "\0"],
  ...["\ud800", "🎉", "<<EOF\n", "$(", "((", ")", "`", "\\", "${", "!x ", "---\n", "? ", "%YAML 1.1\n", "<<: ", "if: "],
  ...["needs: [test]\n", "matrix: {}\n", "gate: {}\n", "include: ", "steps: []", "jobs: "],
  ...["\r", "\u2028", "&a [*a]", "constructor", "__proto__: x\n", "~", "null", ".inf", "\xa0"],
];
/** `most` changes of a good file: the denser it is, the fewer leave it good. */
const mutated = (good: string, most: number): fc.Arbitrary<string> => {
  const at = fc.nat({ max: good.length });
  const change = fc.oneof(
    fc.record({ at, cut: fc.nat({ max: 12 }), put: fc.constant("") }),
    fc.record({ at, cut: fc.nat({ max: 1 }), put: fc.constantFrom(...BITS) }),
    fc.record({ at, cut: fc.constant(0), put: at.map((from) => good.slice(from, from + 60)) }),
  );
  return fc
    .array(change, { minLength: 1, maxLength: most })
    .map((changes) => changes.reduce((text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut), good));
};

const OPTIONS = { hash: "h", path: "p", commitSha: null, requires: {}, timeoutSeconds: 60, newId: () => "id" };
const FACTS = { build: { branch: "main" }, repository: {}, vars: {}, changed: {} };

const KINDS: [string, string, number][] = [
  ["steps", GOOD, 6],
  ["jobs", GOOD_JOBS, 2],
];

/** Reads mutated files, and counts those with a plan and those with mistakes. */
const check = (good: string, most: number, read: typeof parsePlan = parsePlan) => {
  const seen = { plans: 0, wrong: 0 };
  const property = fc.property(mutated(good, most), (file) => {
    const parsed = read(file);
    if (parsed.plan) {
      seen.plans++;
      collectQuestions(parsed.plan);
    }
    const mistakes = parsed.mistakes ?? expand(parsed.plan, { ...OPTIONS, facts: FACTS }).mistakes;
    if (mistakes) {
      seen.wrong++;
      expect(mistakes.length).toBeGreaterThan(0);
      for (const { line, column } of mistakes) {
        expect(line).toBeGreaterThan(0);
        expect(line).toBeLessThanOrEqual(file.split("\n").length);
        expect(column).toBeGreaterThan(0);
      }
    }
  });
  const { failed, counterexample } = fc.check(property, {
    numRuns: Number(process.env.MUTATED_FILES ?? 400),
    endOnFailure: true,
  });
  return { failed, counterexample, seen };
};

describe("mutated files", () => {
  it.each(KINDS)("of %s never crash, and have a plan or mistakes with a place in the file", (_, good, most) => {
    expect(parsePlan(good).mistakes).toBeUndefined();
    const { seen, ...result } = check(good, most);
    expect(result).toEqual({ failed: false, counterexample: null });
    expect(Math.min(seen.plans, seen.wrong)).toBeGreaterThan(10);
  });

  it.each(KINDS)("of %s fail the test if they crash, or have a mistake after the end of the file", (_, good, most) => {
    const crashes = (file: string) => {
      if (file.includes("[*a]")) throw new Error("crash");
      return parsePlan(file);
    };
    const isLow = (file: string): ReturnType<typeof parsePlan> => {
      const parsed = parsePlan(file);
      if (!parsed.mistakes) return parsed;
      return { ...parsed, mistakes: parsed.mistakes.map((one) => ({ ...one, line: one.line + 1 })) };
    };
    for (const wrong of [crashes, isLow]) expect(check(good, most, wrong).failed).toBe(true);
  });
});
