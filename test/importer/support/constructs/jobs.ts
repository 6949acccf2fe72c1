import { PAGES } from "../github-pages.ts";
import { type Construct, job, show } from "./construct.ts";

export const JOBS: Record<string, Construct> = {
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
  "a combination that fails first": {
    page: PAGES.syntax,
    jobs: [
      job(
        "fail-first",
        [show("${{ matrix.n }}"), "exit ${{ matrix.n }}"],
        ["strategy: { max-parallel: 1, matrix: { n: [0, 1, 2] } }"],
      ),
      job("after-fail-first", [show("${{ needs.fail-first.result }}")], ["needs: fail-first", "if: always()"]),
    ].join("\n"),
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
  "a condition of a job without an equivalent": {
    page: PAGES.expressions,
    jobs: [
      job("unsaid-job", [show("actor"), `- if: always()\nrun: ${show("clean up")}`], ["if: github.actor != 'nobody'"]),
      job("after-unsaid", [show("after")], ["needs: unsaid-job", "if: ${{ !cancelled() }}"]),
    ].join("\n"),
    left: { "unsaid-job": [], "after-unsaid": ["> after"] },
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
