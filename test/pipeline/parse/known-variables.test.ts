import { describe, expect, it } from "vitest";
import { formatMistake } from "../../../src/pipeline/mistake.ts";
import { unknownVariables } from "../../../src/pipeline/parse/known-variables.ts";
import { parsePlan } from "../../../src/pipeline/parse/parse.ts";

const KNOWN = { vars: ["API_URL", "PLAIN"], secrets: ["TOKEN"] };
const said = (file: string): string[] =>
  unknownVariables(parsePlan(file).plan!, KNOWN).map((one) => formatMistake("f", one));

describe("unknownVariables", () => {
  it("reports missing variables, and those of the other kind", () => {
    const file = `
name: \${{ vars.API_URI }}
env: { A: "\${{ TOKN }}", B: "\${{ A }}\${{ C }}", C: x }
steps:
  - run: echo \${{ vars.TOKEN }} \${{ secrets.PLAIN }} \${{ C }} \${{ env.D }}
    env: { D: d }
    if: NOPE == null && vars.TOKEN
  - run: echo \${{ D }}
`;
    expect(said(file)).toEqual([
      "f:2:16: There is no variable with this name. Did you mean `API_URL`?",
      "f:3:16: There is no variable with this name. Did you mean `TOKEN`?",
      "f:3:42: There is no variable with this name",
      "f:5:24: This is a secret. Did you mean `secrets.TOKEN`?",
      "f:5:45: This is not a secret. Did you mean `vars.PLAIN`?",
      "f:7:30: This is a secret. Did you mean `secrets.TOKEN`?",
      "f:8:19: There is no variable with this name",
    ]);
  });

  it("accepts existing variables, those of the service, and those with a default", () => {
    const file = `
env: { A: "\${{ API_URL }}\${{ secrets.TOKEN }}\${{ CI }}\${{ MILLRACE_BRANCH }}\${{ vars.NOPE || 'x' }}" }
steps:
  - run: echo \${{ A }} \${{ env.TOKEN }}
  - run: echo "NEW=1" >> $MILLRACE_ENV
  - run: echo \${{ NEW }} \${{ env.NEWER }}
`;
    expect(said(file)).toEqual([]);
    expect(said(file.replace("MILLRACE_ENV", "X"))).toHaveLength(2);
  });
});
