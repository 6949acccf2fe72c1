import { PAGES } from "../github-pages.ts";
import { type Construct, download, handedOver, job, LIST, show, upload } from "./construct.ts";

export const FILES: Record<string, Construct> = {
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
  "an artifact of nothing that a job downloads": {
    page: PAGES.download,
    jobs: [
      job("await-leave", [show("leave"), upload("name: await\npath: none")]),
      job("await-get", [download("await", "in"), show("deploy")], ["needs: await-leave"]),
    ].join("\n"),
    left: { "await-leave": ["> leave"], "await-get": [] },
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
  "a cache with a variable of its own step": {
    page: PAGES.cache,
    jobs: job("cache-name", [
      '- uses: actions/cache@v4\nenv: { cache-name: x }\nwith: { path: none, key: "a-${{ env.cache-name }}-b" }',
      show("on"),
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
