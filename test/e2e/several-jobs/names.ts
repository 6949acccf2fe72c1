import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Project, type Stage } from "./stage.ts";

/** Each creates a file in a shell that reads it as code: bare, within double quotes, or after single ones. */
const VALUES = [
  "$(touch${IFS}marker)",
  "`touch marker`",
  "'; touch marker; '",
  '"; touch marker; "',
  "x; touch marker",
  "--help && touch marker #",
];
const BRANCH = "x$(touch${IFS}marker)";

const FILE = `jobs:
  find:
    name: "Find $(touch marker) \`touch marker\` '; touch marker; ' \${{ build.branch }}"
    concurrency: { group: "$(touch marker) \${{ build.branch }}" }
    outputs: { word: "\${{ steps.find.outputs.word }}" }
    steps:
      - id: find
        name: "$(touch marker) \${{ build.branch }}"
        run: 'printf "word=%s\\n" "$EVIL" >> "$MILLRACE_OUTPUT"'
  use:
    needs: [find]
    name: "Use \${{ matrix.value }}"
    matrix:
      value: ${JSON.stringify(VALUES)}
      include: [{ value: "new $(touch marker)", "further": "\`touch marker\`" }]
    env: { OF_MATRIX: "\${{ matrix.value }}", OF_NEED: "\${{ needs.find.outputs.word }}" }
    outputs: { again: "\${{ steps.print.outputs.again }}" }
    steps:
      - id: print
        run: |
          echo \${{ matrix.value }} "\${{ matrix.value }}" \${{ needs.find.outputs.word }} "\${{ needs.find.outputs.word }}"
          echo \${{ toJSON(needs.find.jobs) }} "$OF_MATRIX" $OF_NEED $MILLRACE_JOB_KEY "$MILLRACE_JOB_NAME" $MILLRACE_MATRIX
          printf '%s\\n' "value:$OF_MATRIX" "need:$OF_NEED" >> "$HERE/seen"
          printf 'again=%s\\n' "$OF_MATRIX" >> "$MILLRACE_OUTPUT"
          if ls -a "$PWD" "$PWD/.." | grep -x marker; then exit 1; fi
  ask:
    needs: [use]
    gate: { message: "May \${{ build.branch }} go on? $(touch marker)" }
    steps:
      - env: { ALL: "\${{ toJSON(needs.use.jobs) }}" }
        run: echo "$ALL" $ALL
`;

/** Tests strangers' texts, in every place where a build with several jobs has some. */
export const names = (stage: Stage): void => {
  it("never runs the names of its branch, jobs, combinations, outputs and gates as commands", async () => {
    const app = await Project.connect(stage, FILE);
    app.git.git("checkout", "--quiet", "-b", BRANCH);
    for (const evil of ["\"; touch marker; $(touch marker) `touch marker` '", "$(touch${IFS}marker)"]) {
      const run = await app.trigger({ branch: BRANCH, envVariables: { EVIL: evil } });
      await stage.client.call("POST", `/job/${await run.gate("ask")}/approve`, {
        comment: "$(touch marker) `touch marker`",
      });
      const build = await run.end();
      expect(build, JSON.stringify(build.jobs)).toMatchObject({ status: "succeeded", branch: BRANCH });
      expect(app.lines("seen")).toEqual(
        expect.arrayContaining([...VALUES.map((value) => `value:${value}`), `need:${evil}`]),
      );
    }
    expect(globSync(join(stage.service.folder, "**/marker"))).toEqual([]);
    expect(existsSync("marker")).toBe(false);
  });
};
