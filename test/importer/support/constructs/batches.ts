import { PAGES } from "../github-pages.ts";
import { ACTIONS, FILES_OF_ACTIONS } from "./actions.ts";
import { type Batch, job, show } from "./construct.ts";
import { FILES } from "./files.ts";
import { APPROVED, REJECTED } from "./gates.ts";
import { JOBS } from "./jobs.ts";
import { LOST } from "./lost.ts";
import { FILES_OF_TOOLS, SET_UPS } from "./set-ups.ts";
import { SHELLS } from "./shells.ts";
import { STEPS } from "./steps.ts";

export const BATCHES: Batch[] = [
  { name: "shells", top: "on: push", constructs: SHELLS },
  { name: "steps", top: "on: push", constructs: STEPS },
  { name: "jobs", top: "on: push", constructs: JOBS },
  { name: "files", top: "on: push", constructs: FILES },
  { name: "what is lost", top: "on: push", constructs: LOST },
  { name: "set-up actions", top: "on: push", constructs: SET_UPS, files: FILES_OF_TOOLS },
  { name: "the repository's actions", top: "on: push", constructs: ACTIONS, files: FILES_OF_ACTIONS },
  { name: "approved environments", top: "on: workflow_dispatch", constructs: APPROVED, isApproved: true },
  { name: "rejected environments", top: "on: push", constructs: REJECTED },
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
