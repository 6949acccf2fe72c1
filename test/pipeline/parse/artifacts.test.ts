import { describe, expect, it } from "vitest";
import { parsePlan } from "../../../src/pipeline/parse/parse.ts";
import { readArtifactFile } from "../../../src/pipeline/prepare/command-files.ts";

const STEPS = "steps: [{ run: x }]";
const mistakesOf = (text: string): string[] =>
  (parsePlan(text).mistakes ?? []).map(({ line, column, message }) => `${line}:${column} ${message}`);
const jobs = (second: string): string => `jobs:\n  a: { ${STEPS} }\n  b: { ${STEPS}, needs: [a], ${second} }\n`;

describe("the artifacts and downloads of a job", () => {
  it("are read with their defaults", () => {
    const { plan } = parsePlan(
      `artifacts:\n  - { name: app, path: build/*.ipa }\n  - { name: all, path: [dist/, '!**/*.map'], as: tar, keep-days: 3, if-none: warn, when: always }\n${STEPS}\n`,
    );
    expect(plan?.job.artifacts).toEqual([
      { name: "app", paths: ["build/*.ipa"], as: "files", keepDays: null, ifNone: "fail", when: "success" },
      { name: "all", paths: ["dist/", "!**/*.map"], as: "tar", keepDays: 3, ifNone: "warn", when: "always" },
    ]);
    const [, b] =
      parsePlan(jobs("downloads: [{ from: a, artifact: app, to: ./in//x/ }, { from: a, to: . }]")).plan?.jobs ?? [];
    expect(b?.job.downloads).toEqual([
      { from: "a", artifact: "app", to: ["in", "x"] },
      { from: "a", artifact: null, to: [] },
    ]);
  });

  it("may come from an indirectly needed job", () => {
    const through = `jobs:\n  a: { ${STEPS} }\n  b: { ${STEPS}, needs: [a] }\n  c: { ${STEPS}, needs: [b], downloads: [{ from: a, to: in }] }\n`;
    expect(mistakesOf(through)).toEqual([]);
  });

  it.each([
    ["x", "1:12 Write a list, for example `[{ name: app, path: build/*.ipa }]`"],
    ["{ site: dist/ }", "1:12 Write a list, for example `[{ name: app, path: build/*.ipa }]`"],
    ["[]", "1:12 This must not be empty"],
    ["[app]", "1:13 Write a mapping, for example `{ name: app, path: build/*.ipa }`"],
    ["[{ name: app }]", "1:13 The key `path` is missing here"],
    ["[{ path: x }]", "1:13 The key `name` is missing here"],
    ["[{ name: a/b, path: x }]", '1:21 The name of an artifact must not have any of " : < > | * ? / \\'],
    ["[{ name: .., path: x }]", "1:21 The name of an artifact must not be . or .."],
    [
      "[{ name: '${{ build.branch }}', path: x }]",
      "1:21 The name of an artifact is plain text: ${{ }} is not evaluated here",
    ],
    ["[{ name: a, path: '${{ env.X }}' }]", "1:30 A path is plain text: ${{ }} is not evaluated here"],
    ["[{ name: a, path: /etc/passwd }]", "1:30 A path is relative to the checkout"],
    ["[{ name: a, path: ~/.ssh }]", "1:30 A path is relative to the checkout"],
    ["[{ name: a, path: x/../../y }]", "1:30 A path is inside the checkout: it must not have .. in it"],
    ["[{ name: a, path: '{a,b}' }]", "1:30 A pattern cannot have lists in braces: write one pattern for each"],
    ["[{ name: a, path: ['!x'] }]", "1:31 A path with ! excludes matches of earlier ones: it cannot be the first"],
    ["[{ name: a, path: [] }]", "1:30 This must not be empty"],
    ["[{ name: a, path: x }, { name: A, path: y }]", "1:43 Another artifact of this job has this name"],
    ["[{ name: a, path: x, keep-days: 401 }]", "1:44 This must be a whole number from 1 to 400"],
    ["[{ name: a, path: x, as: zip }]", "1:37 This must be one of: files, tar"],
    [
      "[{ name: a, path: x, if-no-files-found: warn }]",
      "1:33 `if-no-files-found` is not a key of an artifact. Write `if-none`",
    ],
  ])("are a mistake: artifacts: %s", (written, mistake) => {
    expect(mistakesOf(`artifacts: ${written}\n${STEPS}\n`)).toEqual([mistake]);
  });

  it.each([
    ["[{ from: c, to: in }]", "There is no job `c`"],
    ["[{ from: b, to: in }]", "Only jobs that this one `needs`, directly or indirectly, have ended before it begins"],
    ["[{ from: a }]", "The key `to` is missing here"],
    ["[{ from: a, to: /tmp }]", "A folder is relative to the checkout"],
    ["[{ from: a, to: in/../.. }]", "A folder is inside the checkout: it must not have .. in it"],
    ["[{ from: a, to: .git/hooks }]", "A folder must not be in .git"],
    ["[{ from: a, to: ./.GIT }]", "A folder must not be in .git"],
    ["[{ from: a, to: '${{ env.X }}' }]", "A folder is plain text: ${{ }} is not evaluated here"],
    ["[a]", "Write a mapping, for example `{ from: build, artifact: app, to: in }`"],
  ])("are a mistake: downloads: %s", (written, mistake) => {
    expect(mistakesOf(jobs(`downloads: ${written}`)).map((line) => line.replace(/^\S+ /, ""))).toEqual([mistake]);
  });

  it("belong to a single job with steps", () => {
    const top = `artifacts: [{ name: a, path: x }]\n${jobs("")}`;
    expect(mistakesOf(top)).toEqual([
      "1:1 `artifacts` is not a key of a file with several jobs. Write it in the job that needs it",
    ]);
    const gate = "jobs: { a: { gate: { message: x }, artifacts: [{ name: a, path: x }] } }";
    expect(mistakesOf(gate)).toEqual(["1:9 A gate without steps needs no agent: it cannot have `artifacts`"]);
  });
});

describe("the file of $MILLRACE_ARTIFACT", () => {
  it("has a name and a path on each line; the paths of one name are one artifact", () => {
    expect(readArtifactFile("app=build/*.ipa\n\nTest report=out/\r\nTest report=!out/tmp/\napp=a=b\n")).toEqual({
      artifacts: [
        { name: "app", paths: ["build/*.ipa", "a=b"] },
        { name: "Test report", paths: ["out/", "!out/tmp/"] },
      ],
      problems: [],
    });
  });

  it.each(["app", "=x", "a/b=x", "app=", "app=/etc/passwd", "app=../x", "app=!x", "a\0b=x", `${"n".repeat(101)}=x`])(
    "says the line of a mistake, and quotes nothing: %j",
    (line) => {
      const { artifacts, problems } = readArtifactFile(`ok=x\n${line}\n`);
      expect(artifacts).toEqual([{ name: "ok", paths: ["x"] }]);
      expect(problems).toMatchObject([{ line: 2 }]);
      expect(problems[0]?.message).not.toContain("passwd");
    },
  );
});
