import { PAGES } from "../github-pages.ts";
import { type Construct, job, show } from "./construct.ts";

export const STEPS: Record<string, Construct> = {
  "what a step tells later ones": {
    page: PAGES.commands,
    jobs: job("tell", [
      '- id: one\nrun: |\n  echo "a=b c" >> "$GITHUB_OUTPUT"\n  { echo "L<<E"; echo 1; echo 2; echo E; } >> $GITHUB_ENV\n  mkdir -p bin; printf "#!/bin/sh\\necho \\"> mine\\"\\n" > bin/mine; chmod +x bin/mine; echo "$PWD/bin" >> "${GITHUB_PATH}"',
      'echo "> ${{ steps.one.outputs.a }} ${{ steps.one.outputs.none }}"\necho "> $L"\nmine',
      '- id: old\nrun: |\n  echo "::set-output name=x::y"',
      'echo "> ${{ steps.old.outputs.x }}"; echo sum >> $GITHUB_STEP_SUMMARY',
    ]),
  },
  "a mask": {
    page: PAGES.commands,
    jobs: job("mask", ['X=secret-word\necho "::add-mask::$X"', show("secret-word here")]),
  },
  "conditions of steps": {
    page: PAGES.expressions,
    jobs: job("conditions", [
      "- id: bad\ncontinue-on-error: true\nrun: exit 3",
      show("${{ steps.bad.outcome }} ${{ steps.bad.conclusion }} ${{ job.status }}"),
      `- if: failure()\nrun: ${show("no")}`,
      `- if: steps.bad.outcome == 'failure' && env.NONE == ''\nrun: ${show("yes")}`,
      "exit 4",
      show("never"),
      `- if: failure()\nrun: ${show("failed")}`,
      `- if: "!cancelled()"\nrun: ${show("on")}`,
      `- if: always() && steps.bad.outcome == 'success'\nrun: ${show("no")}`,
      `- if: \${{ always() }}\nrun: ${show("always")}`,
    ]),
  },
  "a condition without an equivalent": {
    page: PAGES.expressions,
    jobs: job("unsaid", [`- if: github.actor != 'nobody'\nrun: ${show("actor")}`, show("after")]),
    left: { unsaid: [] },
  },
  variables: {
    page: PAGES.variables,
    jobs: job(
      "env",
      [
        `- env: { A: step, C: "\${{ env.A }}-c" }\nrun: ${show("$A $B $C")}`
          .replace(', C: "${{ env.A }}-c"', "")
          .replace(" $C", ""),
        `${show("$A $B ${{ env.A }}")}`,
      ],
      ["env: { A: job, B: of the job }"],
    ),
  },
  "expressions in scripts": {
    page: PAGES.expressions,
    jobs: job("pasted", [
      "x=${{ github.sha }}; echo \"> ${#x} ${{ github.ref_name }}\" 'quoted'\ncat <<E\n> ${{ github.job }} ${{ runner.os }}\nE",
      show("${{ format('{0}-{1}', 'a', 2) }} ${{ 3.10 }} ${{ true && 'yes' || 'no' }}"),
    ]),
  },
  "an expression that is several words, or none": {
    page: PAGES.expressions,
    jobs: job(
      "words",
      [
        `count() { ${show("$# $*")}; }\ncount \${{ env.FLAGS }} \${{ matrix.flags }}-x \${{ env.NONE }} "\${{ env.FLAGS }}"`,
        `- env: { FLAGS: c }\nrun: ${show("[$FLAGS] ${{ env.FLAGS }} ${{ matrix.flags || env.NONE }}")}`,
        'for one in ${{ matrix.flags }}; do echo "> $one"; done',
      ],
      ["env: { FLAGS: a b }", 'strategy: { matrix: { flags: ["-d -e", ""] } }'],
    ),
  },
  "an expression where a shell would not look": {
    page: PAGES.expressions,
    jobs: job("single", [show("before"), "echo '> ${{ github.ref_name }}'", show("after")]),
    left: { single: ["> before"] },
  },
  "folders of steps": {
    page: PAGES.syntax,
    jobs: job(
      "folders",
      [
        "- working-directory: .\nrun: mkdir -p app/x web",
        'echo "> ${PWD##*/}"',
        '- working-directory: web\nrun: echo "> ${PWD##*/}"',
      ],
      ["defaults: { run: { working-directory: app } }"],
    ),
  },
  "a folder that is computed": {
    page: PAGES.contexts,
    jobs: job(
      "computed-folder",
      ["- working-directory: .\nrun: mkdir -p a b", 'echo "> ${PWD##*/}"'],
      ["strategy: { matrix: { p: [a, b] } }", 'defaults: { run: { working-directory: "${{ matrix.p }}" } }'],
    ),
  },
  "variables of the runner": {
    page: PAGES.variables,
    jobs: job("runner", [
      'echo "> $GITHUB_REF_NAME ${GITHUB_JOB} $GITHUB_ACTIONS"\nset -u; [ "$GITHUB_ACTIONS" = true ] && echo "> there"',
      'node -e \'console.log("> " + process.env.GITHUB_SHA.length + process.env["GITHUB_REF"])\'',
      "printenv GITHUB_JOB | sed 's/^/> /'\nenv | grep '^GITHUB_REF=' | sed 's/^/> /'",
      'python3 -c "import os; print(\\"> \\" + os.environ[\\"GITHUB_JOB\\"] + os.getenv(\\"RUNNER_OS\\"))"',
    ]),
  },
  "a variable that no agent sets": {
    page: PAGES.variables,
    jobs: job("tool-cache", [show("before"), 'ls "$RUNNER_TOOL_CACHE" || true\necho "> there"', show("after")]),
    left: { "tool-cache": ["> before"] },
  },
  "the folder of the checkout": {
    page: PAGES.variables,
    jobs: job("workspace", [
      "mkdir -p a/b; touch mark",
      '- working-directory: a/b\nrun: (cd "$GITHUB_WORKSPACE" && ls mark | sed "s/^/> /")',
      '(cd ${{ github.workspace }}/a && echo "> ${PWD##*/}"); ls "${{ github.workspace }}/mark" > /dev/null && echo "> mark"',
    ]),
  },
  "the folder for temporary files": {
    page: PAGES.contexts,
    jobs: job("temporary", [
      'echo text > "$RUNNER_TEMP/file"',
      'cat ${{ runner.temp }}/file | sed "s/^/> /"; ls | wc -l | sed "s/^ */> /"',
      '- env: { PLACE: "${{ runner.temp }}/file" }\nrun: cat "$PLACE" | sed "s/^/> /"',
    ]),
  },
  "a variable with the folder of the checkout": {
    page: PAGES.contexts,
    jobs: job(
      "folder-variable",
      [
        "mkdir -p a/x; touch a/x/mark",
        "- working-directory: a\nrun: (cd $PLACE && ls | sed 's/^/> /')",
        'ls "${{ env.PLACE }}" | sed "s/^/> /"\necho "> ${{ env.PLACE == \'\' }}"',
        '- env: { PLACE: own }\nrun: echo "> $PLACE"',
        "echo PLACE=later >> $GITHUB_ENV",
        'echo "> $PLACE"',
      ],
      ["strategy: { matrix: { m: [x] } }", 'env: { PLACE: "${{ github.workspace }}/a/${{ matrix.m }}" }'],
    ),
  },
  "a checkout in a folder of its own": {
    page: PAGES.checkout,
    jobs: job("own-folder", [
      "- uses: actions/checkout@v4\nwith: { path: own/folder }",
      "- working-directory: own/folder\nrun: ls file package.json | sed 's/^/> /'; git log --format=%H | wc -l | sed 's/^ */> /'",
    ]),
  },
  "a retry that is no step's": {
    page: PAGES.syntax,
    jobs: job("timeout", [`- timeout-minutes: 0.5\nrun: ${show("soon")}`]),
  },
};
