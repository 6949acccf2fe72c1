import { describe, expect, it } from "vitest";
import { parsePlan } from "../../../src/pipeline/parse/parse.ts";

const STEPS = "steps: [{ run: x }]";
const mistakesOf = (text: string): string[] =>
  (parsePlan(text).mistakes ?? []).map(({ line, column, message }) => `${line}:${column} ${message}`);

describe("reports of a pipeline file", () => {
  it("are paths of a file of steps, or of a job", () => {
    expect(parsePlan(`reports: { junit: out/*.xml }\n${STEPS}`).plan?.job.reports).toEqual({ junit: ["out/*.xml"] });
    const jobs = `jobs: { a: { ${STEPS}, reports: { junit: [a.xml, 'b/', '!b/c.xml'] } }, b: { ${STEPS} } }`;
    expect(parsePlan(jobs).plan?.jobs?.map(({ job }) => job.reports.junit)).toEqual([["a.xml", "b/", "!b/c.xml"], []]);
    expect(parsePlan(STEPS).plan?.job.reports).toEqual({ junit: [] });
  });

  it.each([
    ["x", "1:10 Write a mapping, for example `reports: { junit: build/reports/*.xml }`"],
    ["{}", "1:10 The key `junit` is missing here"],
    ["{ junit: [] }", "1:19 This must not be empty"],
    ["{ junit: ../x.xml }", "1:19 A path is inside the checkout: it must not have .. in it"],
    ["{ junit: /etc/passwd }", "1:19 A path is relative to the checkout"],
  ])("are rejected if they are %s", (written, mistake) => {
    expect(mistakesOf(`reports: ${written}\n${STEPS}`)).toEqual([mistake]);
  });

  it("give advice for another key, and belong in a job", () => {
    expect(mistakesOf(`reports: { path: x }\n${STEPS}`).join()).toContain("Write `junit`");
    expect(mistakesOf(`reports: { junit: x }\njobs: { a: { ${STEPS} } }`).join()).toContain(
      "Write it in the job that needs it",
    );
  });
});
