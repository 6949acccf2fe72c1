import { PAGES } from "../github-pages.ts";
import { type Construct, job, show } from "./construct.ts";

export const LOST: Record<string, Construct> = {
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
    isGreen: true,
  },
  "an action that may fail": {
    page: PAGES.syntax,
    jobs: job("may-fail", ["- uses: some/lint@v1\ncontinue-on-error: true", show("more")]),
    left: { "may-fail": ["> more"] },
    isGreen: true,
  },
  "an action under a condition": {
    page: PAGES.syntax,
    jobs: job("sometimes", ["- uses: some/approval@v1\nif: failure()", show("on")]),
  },
  "a variable of the job without an equivalent": {
    page: PAGES.variables,
    jobs: job(
      "lost-variable",
      [show("before"), 'echo "> rm -r [$FOLDER]/*"', show("after")],
      ["env: { FOLDER: 'x${{ github.actor }}' }"],
    ),
    left: { "lost-variable": ["> before"] },
  },
  "a variable of the step without an equivalent": {
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
