import { PAGES } from "../github-pages.ts";
import { type Construct, job, show, use } from "./construct.ts";

const action = (steps: string, more = ""): string =>
  `${more}runs:\n  using: composite\n  steps:\n${steps.replace(/^/gm, "    ")}\n`;

/** The repository's files with its own actions. */
export const FILES_OF_ACTIONS = {
  file: "kept\n",
  ".github/actions/say/action.yml": action(
    [
      '- id: one\n  shell: bash\n  run: echo "> ${{ inputs.word }} ${{ inputs.mode }}[${{ inputs.none }}]"; echo "o=${{ inputs.word }}!" >> "$GITHUB_OUTPUT"; echo "SAID=yes" >> "$GITHUB_ENV"',
      "- if: inputs.mode == 'slow'\n  shell: bash\n  run: echo \"> slow\"",
      '- shell: sh\n  run: bash "${{ github.action_path }}/here.sh"',
      '- shell: bash\n  run: ls file | sed "s/^/> /"',
    ].join("\n"),
    "inputs: { word: { required: true }, mode: { default: fast }, none: {} }\noutputs: { out: { value: '${{ steps.one.outputs.o }}' } }\n",
  ),
  ".github/actions/say/here.sh": 'echo "> here"\n',
  ".github/actions/twice/action.yml": action(
    "- uses: ./.github/actions/say\n  id: first\n  with: { word: '${{ inputs.word }}-1' }\n- uses: ./.github/actions/say\n  with: { word: '${{ steps.first.outputs.out }}' }",
    "inputs: { word: {} }\n",
  ),
  ".github/actions/fails/action.yml": action("- shell: bash\n  run: exit 3\n- shell: bash\n  run: echo '> never'"),
  ".github/actions/after/action.yml": action(
    "- shell: bash\n  run: echo '> on'\n- if: always()\n  shell: bash\n  run: echo '> after all'",
  ),
  ".github/actions/program/action.yml": "runs: { using: node24, main: index.js }\n",
};

const CHECKOUT = use("actions/checkout@v4");

export const ACTIONS: Record<string, Construct> = {
  "the repository's own action": {
    page: PAGES.actions,
    jobs: job(
      "own-action",
      [
        CHECKOUT,
        use("./.github/actions/say", "{ word: 'v${{ matrix.n }}', mode: slow }", "id: call"),
        `${show("${{ steps.call.outputs.out }} $SAID")}`,
        use("./.github/actions/say", "{ word: never }", "if: matrix.n == 2"),
      ],
      ["strategy: { matrix: { n: [1, 2] } }"],
    ),
  },
  "an action that uses another": {
    page: PAGES.actions,
    jobs: job("twice", [CHECKOUT, use("./.github/actions/twice", "{ word: a }")]),
  },
  "an action in a job with a folder": {
    page: PAGES.actions,
    jobs: job(
      "own-action-folder",
      [CHECKOUT, use("./.github/actions/say", "{ word: a }"), "pwd | sed 's,.*/,> ,'"],
      ["defaults: { run: { working-directory: .github } }"],
    ),
  },
  "an action that fails": {
    page: PAGES.actions,
    jobs: job("failing-action", [
      CHECKOUT,
      use("./.github/actions/fails"),
      show("never"),
      `- if: failure()\nrun: ${show("failed")}`,
    ]),
  },
  "an action with a step after a failure": {
    page: PAGES.actions,
    jobs: job("after-action", [CHECKOUT, show("before"), use("./.github/actions/after"), show("later")]),
    left: { "after-action": ["> before"] },
  },
  "an action that is a program": {
    page: PAGES.actions,
    jobs: job("program-action", [CHECKOUT, show("before"), use("./.github/actions/program"), show("later")]),
    left: { "program-action": ["> before"] },
  },
  "another repository": {
    page: PAGES.checkout,
    jobs: job("clone", [
      use("actions/checkout@v4", "{ repository: acme/other, path: there/other, ref: v1, fetch-depth: 0 }"),
      "cat there/other/other | sed 's/^/> /'",
      "git -C there/other log --format=%s | sed 's/^/> /'",
    ]),
  },
  "another repository with a token": {
    page: PAGES.checkout,
    jobs: job("clone-token", [
      show("before"),
      use("actions/checkout@v4", "{ repository: acme/other, path: other, token: '${{ secrets.T }}' }"),
      show("after"),
    ]),
    left: { "clone-token": ["> before"] },
  },
};
