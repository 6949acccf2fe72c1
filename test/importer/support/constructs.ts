import { PAGES } from "./github-pages.ts";

/*
 * The constructs in docs/import.md's table. Each has jobs that print what they see in lines that begin with `> `, and
 * the page that documents GitHub's behaviour. Job keys are unique in their batch.
 */

export interface Construct {
  page: string;
  jobs: string;
  /** The remaining lines by job key, where the importer cannot translate everything. */
  left?: Record<string, string[]>;
}

interface Batch {
  name: string;
  /** Keys at the top of the workflow. */
  top: string;
  constructs: Record<string, Construct>;
}

/** Writes a job with these steps. Each is a script or a step's lines. */
const job = (key: string, steps: string[], keys: string[] = []): string =>
  [
    `${key}:`,
    "  runs-on: ubuntu-latest",
    ...keys.map((line) => `  ${line}`),
    "  steps:",
    ...steps.flatMap((step) => {
      const lines = (step.startsWith("- ") ? step.slice(2) : `run: |\n  ${step.replaceAll("\n", "\n  ")}`).split("\n");
      return lines.map((line, index) => `    ${index === 0 ? "- " : "  "}${line}`);
    }),
  ].join("\n");

const show = (text: string): string => `echo "> ${text}"`;
const LIST = "find . -type f | sort | sed 's/^/> /'";

const upload = (inputs: string, before = ""): string =>
  `- uses: actions/upload-artifact@v4\n${before}with:\n  ${inputs.replaceAll("\n", "\n  ")}`;
const download = (name: string, path: string): string =>
  `- uses: actions/download-artifact@v4\nwith: { name: ${name}, path: ${path} }`;

/** Writes a job that uploads files, and a job that lists the downloaded files. */
const handedOver = (key: string, files: string, inputs: string): string =>
  [
    job(`${key}-leave`, [
      `for f in ${files}; do mkdir -p "$(dirname "$f")"; echo "$f" > "$f"; done`,
      upload(`name: ${key}\n${inputs}`),
    ]),
    job(`${key}-get`, [download(key, "in"), LIST], [`needs: ${key}-leave`]),
  ].join("\n");

const SHELLS: Record<string, Construct> = {
  "a pipe without a shell": { page: PAGES.syntax, jobs: job("pipe", [`false | ${show("on")}\n${show("after")}`]) },
  "a pipe in bash": {
    page: PAGES.syntax,
    jobs: job("pipefail", [`- shell: bash\nrun: |\n  false | ${show("on")}\n  ${show("after")}`]),
  },
  "bash of its own": {
    page: PAGES.syntax,
    jobs: job("own-bash", [
      `- shell: bash {0}\nrun: |\n  false\n  ${show("after")}`,
      `- shell: bash -eu {0}\nrun: |\n  ${show("$NOT_THERE")}`,
    ]),
  },
  sh: {
    page: PAGES.syntax,
    jobs: job("sh", [`- shell: sh\nrun: |\n  ${show("$0")}\n  false\n  ${show("never")}`.replace("$0", "sh")]),
  },
  python: { page: PAGES.syntax, jobs: job("python", ['- shell: python\nrun: |\n  print("> python")']) },
  "a shell of the job's defaults": {
    page: PAGES.syntax,
    jobs: job("default-shell", [`false | ${show("on")}`, show("never")], ["defaults: { run: { shell: bash } }"]),
  },
  "a shell that is not here": {
    page: PAGES.syntax,
    jobs: job("perl", [show("before"), '- shell: perl {0}\nrun: print "> perl\\n";', show("after")]),
    left: { perl: ["> before"] },
  },
};

const STEPS: Record<string, Construct> = {
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
  "a condition that cannot be said": {
    page: PAGES.expressions,
    jobs: job("unsaid", [`- if: github.actor != 'nobody'\nrun: ${show("actor")}`, show("after")]),
    left: { unsaid: ["> after"] },
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

const JOBS: Record<string, Construct> = {
  "jobs after one that failed": {
    page: PAGES.expressions,
    jobs: [
      job("fails", ["exit 1"]),
      job("after", [show("never")], ["needs: fails"]),
      job("after-all", [show("${{ needs.fails.result }}")], ["needs: fails", "if: always()"]),
      job("after-failure", [show("failed")], ["needs: [fails]", "if: failure()"]),
      job("behind", [show("never")], ["needs: after-all"]),
      job(
        "dropped",
        [show("${{ needs.after.result }}")],
        ["needs: after", "if: always() && needs.after.result == 'skipped'"],
      ),
    ].join("\n"),
  },
  "jobs after one that was skipped": {
    page: PAGES.syntax,
    jobs: [
      job("off", [show("never")], ["if: false"]),
      job("after-off", [show("never")], ["needs: off"]),
      job("anyway", [show("${{ needs.OFF.result }}")], ["needs: off", "if: ${{ !failure() }}"]),
    ].join("\n"),
  },
  "a job that may fail": {
    page: PAGES.syntax,
    jobs: [
      job("may", ["exit 1"], ["continue-on-error: true"]),
      job("after-may", [show("${{ needs.may.result }}")], ["needs: may"]),
    ].join("\n"),
  },
  "what jobs tell each other": {
    page: PAGES.syntax,
    jobs: [
      job(
        "teller",
        ['- id: s\nrun: echo "v=1 2" >> "$GITHUB_OUTPUT"'],
        ["outputs: { Value: '${{ steps.s.outputs.v }}', sum: 'x${{ 1 }}' }"],
      ),
      job(
        "listener",
        [show("${{ needs.teller.outputs.value }} ${{ needs.teller.outputs.sum }} ${{ needs.teller.outputs.none }}")],
        ["needs: [teller]"],
      ),
    ].join("\n"),
  },
  "a matrix": {
    page: PAGES.syntax,
    jobs: job(
      "matrix",
      [show("${{ matrix.n }} ${{ matrix.os }} ${{ matrix.extra }} ${{ matrix.n == 12 }}")],
      [
        "strategy:",
        "  fail-fast: false",
        "  max-parallel: 1",
        "  matrix:",
        "    n: [3.10, 12]",
        "    os: [a, B]",
        "    exclude: [{ n: '12', os: b }]",
        "    include: [{ n: '12', extra: yes }, { os: c, n: 1 }]",
      ],
    ),
  },
  "conditions on a matrix": {
    page: PAGES.contexts,
    jobs: job(
      "of-matrix",
      [`- if: matrix.n > 9 && matrix.flag\nrun: ${show("${{ matrix.n }}")}`, "exit ${{ matrix.flag && '0' || '1' }}"],
      [
        "continue-on-error: ${{ !matrix.flag }}",
        "strategy: { fail-fast: false, matrix: { n: [8, 10], flag: [true, false] } }",
      ],
    ),
  },
  "a container": {
    page: PAGES.syntax,
    jobs: job(
      "contained",
      [show("in a container"), `- if: always()\nrun: ${show("rm -rf")}`],
      ["container: debian:12", "if: always()"],
    ),
    left: { contained: [] },
  },
  services: {
    page: PAGES.syntax,
    jobs: job("served", [show("drop database")], ["services: { db: { image: 'postgres:17' } }"]),
    left: { served: [] },
  },
  "a called workflow": {
    page: PAGES.syntax,
    jobs: [
      "caller:\n  uses: ./.github/workflows/other.yml",
      job("after-caller", [show("after")], ["needs: caller"]),
    ].join("\n"),
    left: { caller: [], "after-caller": [] },
  },
  Windows: {
    page: PAGES.syntax,
    jobs: job("windows", [show("dir")]).replace("ubuntu", "windows"),
    left: { windows: [] },
  },
  permissions: {
    page: PAGES.syntax,
    jobs: job(
      "named",
      [`- name: Say \${{ github.job }}\nrun: ${show("named")}`],
      ["permissions: { contents: read }", "timeout-minutes: 3"],
    ),
  },
};

const FILES: Record<string, Construct> = {
  "a file": { page: PAGES.upload, jobs: handedOver("file", "dist/app.zip dist/b", "path: dist/app.zip") },
  "a folder": {
    page: PAGES.upload,
    jobs: handedOver("folder", "dist/a dist/x/b dist/.env dist/.git2/c", "path: dist/"),
  },
  "a folder with its hidden files": {
    page: PAGES.upload,
    jobs: handedOver("hidden", "dist/a dist/.env", "path: ./dist\ninclude-hidden-files: true"),
  },
  "a folder in a hidden one": {
    page: PAGES.upload,
    jobs: handedOver("within", ".next/cache/a .next/cache/.b .next/c", "path: .next/cache"),
  },
  "a pattern": {
    page: PAGES.upload,
    jobs: handedOver("pattern", "out/a.log out/x/b.log out/c.txt", "path: out/**/*.log"),
  },
  "files of one folder": {
    page: PAGES.upload,
    jobs: handedOver("beside", "out/a.log out/b.txt out/c", "path: |\n  out/a.log\n  out/*.txt"),
  },
  "files of several folders": {
    page: PAGES.upload,
    jobs: handedOver(
      "common",
      "out/debug/app.apk out/release/app.apk out/release/x/app.apk out/more/debug/app.apk",
      "path: |\n  out/debug/*.apk\n  out/release/*.apk",
    ),
  },
  "files of several depths": {
    page: PAGES.upload,
    jobs: handedOver(
      "depths",
      "out/a.log out/x/b.log out/x/x/b.log out/y/x/b.log",
      "path: |\n  out/x/b.log\n  out/*.log",
    ),
  },
  "a folder but some": {
    page: PAGES.upload,
    jobs: handedOver("but", "out/a out/tmp/b out/c.tmp", "path: |\n  out\n  !out/tmp\n  !out/**/*.tmp"),
  },
  "files from the checkout downwards": {
    page: PAGES.upload,
    jobs: handedOver("top", "coverage/cobertura.xml pr.txt", "path: |\n  coverage/cobertura.xml\n  pr.txt"),
    left: { "top-leave": [], "top-get": [] },
  },
  "a pattern with a class": {
    page: PAGES.upload,
    jobs: handedOver("class", "out/1.log out/a.log", "path: out/[0-9].log"),
    left: { "class-leave": [], "class-get": [] },
  },
  "nothing to keep": {
    page: PAGES.upload,
    jobs: [
      job("none", [upload("name: none\npath: none"), show("on")]),
      job("none-error", ["true", upload("name: none-error\npath: none\nif-no-files-found: error")]),
    ].join("\n"),
  },
  "an artifact of a job that failed": {
    page: PAGES.upload,
    jobs: [
      job("shots", ["mkdir shots; touch shots/a", "exit 1", upload("name: shots\npath: shots", "if: failure()\n")]),
      job("see", [download("shots", "in"), LIST], ["needs: shots", "if: always()"]),
    ].join("\n"),
  },
  "artifacts of what has run": {
    page: PAGES.upload,
    jobs: [
      job("ran", [
        "- id: s\nrun: mkdir out; touch out/a.log out/b out/.env; echo x=1 >> $GITHUB_OUTPUT",
        upload("name: ran-${{ steps.s.outputs.x }}\npath: out"),
        upload("name: ran\npath: out/*.log", "if: steps.s.outputs.x == '1'\n"),
        upload("name: ran-not\npath: out", "if: steps.s.outputs.x == '2'\n"),
        upload("name: ran-${{ steps.s.outputs.x }}-none\npath: none"),
        show("on"),
      ]),
      job("ran-get", [download("ran", "in"), LIST], ["needs: ran"]),
      job("ran-none", [
        "- id: s\nrun: echo x=1 >> $GITHUB_OUTPUT",
        upload("name: of-${{ steps.s.outputs.x }}\npath: none\nif-no-files-found: error"),
      ]),
    ].join("\n"),
  },
  "artifacts of a pattern": {
    page: PAGES.download,
    jobs: [
      job("many-a", ["mkdir out; touch out/a", upload("name: many-a\npath: out")]),
      job("many-b", ["mkdir out; touch out/b", upload("name: many-b\npath: out")]),
      job("many-other", ["mkdir out; touch out/c", upload("name: other-many\npath: out")]),
      job(
        "many-get",
        [
          "- uses: actions/download-artifact@v4\nwith: { pattern: many-*, path: in }",
          "- uses: actions/download-artifact@v4\nwith: { pattern: many-*, path: all, merge-multiple: true }",
          LIST,
        ],
        ["needs: [many-a, many-b, many-other]"],
      ),
    ].join("\n"),
  },
  "a cache that has nothing": {
    page: PAGES.cache,
    jobs: job("cached", [
      '- id: c\nuses: actions/cache@v4\nwith: { path: node_modules, key: "${{ runner.os }}-${{ hashFiles(\'package.json\') }}", restore-keys: "${{ runner.os }}-" }',
      `- if: steps.c.outputs.cache-hit != 'true'\nrun: ${show("install")}`,
      "- uses: actions/cache/restore@v4\nid: r\nwith: { path: x, key: y }",
      show("[${{ steps.r.outputs.cache-hit }}]"),
      "- uses: actions/cache/save@v4\nwith: { path: x, key: y }",
    ]),
  },
  "a cache without which it fails": {
    page: PAGES.cache,
    jobs: job("needs-cache", [
      show("before"),
      "- uses: actions/cache/restore@v4\nwith: { path: x, key: y, fail-on-cache-miss: true }",
      show("deploy"),
    ]),
  },
  "the branch of the checkout": {
    page: PAGES.checkout,
    jobs: job("branch", [
      "- uses: actions/checkout@v4",
      'echo "> $(git branch --show-current) $(git rev-parse --abbrev-ref HEAD)"',
      "cat file | sed 's/^/> /'",
    ]),
  },
};

const LOST: Record<string, Construct> = {
  "an action before a deploy": {
    page: PAGES.syntax,
    jobs: job("deploy", [
      show("build"),
      "- uses: some/approval@v1",
      show("deploy"),
      `- if: always()\nrun: ${show("clean up")}`,
    ]),
    left: { deploy: ["> build", "> clean up"] },
  },
  "an action that tells others": {
    page: PAGES.syntax,
    jobs: job("tells", [show("test"), "- uses: codecov/codecov-action@v5", show("more")]),
    left: { tells: ["> test", "> more"] },
  },
  "an action that may fail": {
    page: PAGES.syntax,
    jobs: job("may-fail", ["- uses: some/lint@v1\ncontinue-on-error: true", show("more")]),
    left: { "may-fail": ["> more"] },
  },
  "an action under a condition": {
    page: PAGES.syntax,
    jobs: job("sometimes", ["- uses: some/approval@v1\nif: failure()", show("on")]),
  },
  "a variable of the job that cannot be said": {
    page: PAGES.variables,
    jobs: job(
      "lost-variable",
      [show("before"), 'echo "> rm -r [$FOLDER]/*"', show("after")],
      ["env: { FOLDER: 'x${{ github.actor }}' }"],
    ),
    left: { "lost-variable": ["> before"] },
  },
  "a variable of the step that cannot be said": {
    page: PAGES.variables,
    jobs: job("lost-prefix", [
      `- env: { PREFIX: "x\${{ github.actor }}" }\nrun: ${show("make install")}`,
      show("after"),
    ]),
    left: { "lost-prefix": [] },
  },
  "the token of the host": {
    page: PAGES.variables,
    jobs: job("token", [`- env: { T: "\${{ secrets.GITHUB_TOKEN }}" }\nrun: ${show("[$T]")}`, show("after")]),
  },
  "a job of nothing else": { page: PAGES.syntax, jobs: job("only", ["- uses: some/lint@v1"]), left: { only: [] } },
  "files of nobody": {
    page: PAGES.download,
    jobs: job("all-files", [
      "touch a",
      "- uses: actions/download-artifact@v4\nwith: { name: 'x-${{ github.sha }}' }",
      show("deploy"),
    ]),
  },
};

export const BATCHES: Batch[] = [
  { name: "shells", top: "on: push", constructs: SHELLS },
  { name: "steps", top: "on: push", constructs: STEPS },
  { name: "jobs", top: "on: push", constructs: JOBS },
  { name: "files", top: "on: push", constructs: FILES },
  { name: "what is lost", top: "on: push", constructs: LOST },
  {
    name: "keys at the top",
    top: 'on: push\nenv: { A: file, B: "${{ github.ref_name }}" }\ndefaults: { run: { shell: bash, working-directory: app } }',
    constructs: {
      "variables and defaults": {
        page: PAGES.syntax,
        jobs: [
          job("top", [
            "- working-directory: .\nrun: mkdir app",
            'echo "> $A $B ${PWD##*/}"; false | true',
            show("never"),
          ]),
          job(
            "over",
            [
              "- working-directory: .\nrun: mkdir app",
              `- env: { A: step }\nrun: ${show("$A $B ${{ env.B }}")}`,
              "false | true",
              show("on"),
            ],
            ["env: { B: job }", "defaults: { run: { shell: 'bash -e {0}' } }"],
          ),
        ].join("\n"),
      },
    },
  },
];
