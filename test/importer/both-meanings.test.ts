import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { runAgentCli } from "../agent/support/agent-cli.ts";
import { testFolder } from "../agent/support/folder.ts";
import { testRepository } from "../agent/support/repository.ts";
import { BATCHES } from "./support/constructs/batches.ts";
import type { Batch, Construct } from "./support/constructs/construct.ts";
import { runThere, type Transcript } from "./support/github-model.ts";
import { deliveredImporter, translate } from "./support/importer.ts";
import { writeMise } from "./support/releases.ts";

/*
 * The test runs each construct twice: a model of GitHub runs the workflow, and the agent runs its translation. All
 * constructs in a batch are jobs in one workflow, which the test translates and runs as a whole.
 */

const importer = await deliveredImporter();

const RESULTS = {
  succeeded: "success",
  failed: "failure",
  skipped: "skipped",
  dropped: "skipped",
  canceled: "cancelled",
} as const;

/** Parses the output of `agent run` into a transcript. */
const readRun = (stdout: string): Transcript => {
  const transcript: Transcript = { results: {}, lines: {} };
  let lines: string[] = [];
  for (const line of stdout.split("\n")) {
    const [, job] = /^Job (.+)$/.exec(line) ?? [];
    const [, key, status] =
      /^(\w[\w-]*(?: \([^)]*\))?) (succeeded|failed|skipped|dropped|canceled)(?:: .*)?$/.exec(line) ?? [];
    if (job !== undefined) {
      lines = [];
      transcript.lines[job] = lines;
    } else if (key !== undefined) transcript.results[key] = RESULTS[status as keyof typeof RESULTS];
    else if (line.startsWith("> ")) lines.push(line);
  }
  return transcript;
};

/** Returns the part of the transcript from a construct's jobs. */
const ofConstruct = ({ results, lines }: Transcript, { jobs }: Construct): Transcript => {
  const keys = Object.keys(parse(jobs) as object);
  const isOwn = ([key]: [string, unknown]) => keys.includes(key.replace(/ \(.*\)$/, ""));
  return {
    results: Object.fromEntries(Object.entries(results).filter(isOwn)) as Transcript["results"],
    lines: Object.fromEntries(Object.entries(lines).filter(isOwn)) as Transcript["lines"],
  };
};

const isPartOf = (part: string[], whole: string[]): boolean => {
  let at = 0;
  return part.every((line) => {
    at = whole.indexOf(line, at) + 1;
    return at > 0;
  });
};

/** Runs the agent. Its tools come from a stand-in for mise, and GitHub's repositories from folders. */
const runHere = async (text: string, folder: string, other: string, { isApproved, vars = {} }: Batch) => {
  const home = testFolder();
  writeFileSync(join(folder, ".millrace.yml"), text);
  const variables = Object.entries(vars).flatMap(([key, value]) => ["--env", `${key}=${value}`]);
  const args = ["--grace", "1", "--mise", writeMise(join(home, "mise")), ...variables];
  writeFileSync(join(home, ".gitconfig"), `[url "file://${other}"]\n  insteadOf = https://github.com/acme/other\n`);
  const approve = isApproved ? ["--approve"] : [];
  const { stdout } = await runAgentCli(["run", ".millrace.yml", ...args, ...approve], {
    cwd: folder,
    env: { HOME: home },
  }).ended;
  return readRun(stdout);
};

describe.each(BATCHES)("a workflow and its translation: $name", (batch) => {
  it("print the same lines, or fewer and fail", async () => {
    const { top, constructs, files = { file: "kept\n", "package.json": "{}" } } = batch;
    const jobs = Object.values(constructs).map(({ jobs }) => jobs.replaceAll(/^(?=.)/gm, "  "));
    const workflow = `${top}\njobs:\n${jobs.join("\n")}\n`;
    const { folder, git } = testRepository(files);
    mkdirSync(join(folder, "new"));
    writeFileSync(join(folder, "new/file"), "");
    const github = {
      sha: git("rev-parse", "HEAD"),
      ref: "refs/heads/main",
      ref_name: "main",
      repository: basename(folder),
    };
    const { text } = await translate(importer, workflow, files);
    const other = testRepository({ other: "other\n" });
    other.git("tag", "v1");
    const place = { ...batch, repository: folder, others: { "acme/other": other.folder }, changed: ["new/file"] };
    const there = runThere(workflow, place, github);
    const here = await runHere(text, folder, other.folder, batch);
    for (const [name, construct] of Object.entries(constructs)) {
      const [expected, made] = [ofConstruct(there, construct), ofConstruct(here, construct)];
      if (!construct.left) expect({ name, ...made }).toEqual({ name, ...expected });
      else {
        const lines = Object.fromEntries(Object.keys(construct.left).map((key) => [key, made.lines[key] ?? []]));
        expect({ name, lines }).toEqual({ name, lines: construct.left });
        // A build that does less is not green, so that nobody takes it for a test.
        expect({ name, fails: Object.values(made.results).includes("failure") }).toEqual({
          name,
          fails: !construct.isGreen,
        });
        for (const [key, own] of Object.entries(lines)) expect(isPartOf(own, expected.lines[key] ?? [])).toBe(true);
      }
    }
  });
});

describe("the model", () => {
  it("detects a translation that does more, or something else", () => {
    const workflow =
      "on: push\njobs: { a: { runs-on: x, steps: [{ run: 'false | echo \"> on\"' }, { run: 'exit 1' }, { run: 'echo \"> no\"' }] } }";
    const { folder } = testRepository({});
    const { results, lines } = runThere(workflow, { repository: folder }, {});
    expect({ results, lines }).toEqual({ results: { a: "failure" }, lines: { a: ["> on"] } });
    expect(isPartOf(["> on", "> no"], lines.a!)).toBe(false);
  });
});
