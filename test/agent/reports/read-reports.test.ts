import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readReports, TURN_BYTES } from "../../../src/agent/reports/test-reporter.ts";
import { JUnitReader } from "../../../src/domain/reports/parse-junit.ts";
import { isRoot } from "../../support/local/named-user.ts";
import { testFolder } from "../support/folder.ts";
import { unnamedUser } from "../support/step-user.ts";

const suite = (...cases: string[]): string => `<testsuite name="s">${cases.join("")}</testsuite>`;
const test = (name: string): string => `<testcase name="${name}"/>`;

/** Creates a checkout with these files, and a report outside it. */
const checkout = (files: Record<string, string | Buffer>): { root: string; outside: string } => {
  const folder = testFolder();
  const root = join(folder, "workspace");
  mkdirSync(root);
  const outside = join(folder, "outside.xml");
  writeFileSync(outside, suite(test("from outside")));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return { root, outside };
};

const read = async (root: string, ...patterns: string[]) => {
  const { cases, warnings } = await readReports({ root, user: null, signal: new AbortController().signal }, patterns);
  return { names: cases.map(({ name }) => name), warnings };
};
const warning = (message: string, file: string | null = null) => ({
  file,
  message: expect.stringMatching(new RegExp(message)),
});

describe("report files", () => {
  it("are read from a pattern's matches, in any encoding that they name", async () => {
    const latin = Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?>${suite(test("caf\u00e9"))}`, "latin1");
    const wide = Buffer.from(`\ufeff${suite(test("weit"))}`, "utf16le");
    const { root } = checkout({
      ...{ "a/out/1.xml": suite(test("one"), test("two")), "b/out/2.XML": suite(test("three")) },
      ...{
        "b/out/log.txt": "<no report",
        "latin/r.xml": latin,
        "wide/r.xml": wide,
        "named.junit": suite(test("named")),
      },
    });
    expect(await read(root, "**/out/*")).toEqual({ names: ["one", "two", "three"], warnings: [] });
    expect(await read(root, "latin/", "wide/")).toEqual({ names: ["caf\u00e9", "weit"], warnings: [] });
    expect(await read(root, "named.junit")).toEqual({ names: ["named"], warnings: [] });
  });

  it("that are invalid cause warnings with a position, and the others count", async () => {
    const { root } = checkout({
      "1.xml": suite(test("one")),
      "2.xml": `${suite(test("x"))}<`,
      "3.xml": `<!DOCTYPE a [<!ENTITY b "c">]>\n${suite('<testcase name="&b;"/>')}`,
      "4.xml": suite(test("four")),
    });
    const { names, warnings } = await read(root, "*.xml");
    expect(names).toEqual(["one", "four"]);
    expect(warnings).toEqual([
      warning("not well-formed.*line 1, column \\d+", "2.xml"),
      warning("DOCTYPE.*line 1", "3.xml"),
    ]);
  });

  it("are read in pieces, with event-loop turns in between that allow a cancel", async () => {
    const pieces = 8;
    const { root } = checkout({ "large.xml": suite("<!-- -->".repeat((pieces * TURN_BYTES) / 8), test("last")) });
    const controller = new AbortController();
    const place = { root, user: null, signal: controller.signal };
    expect((await readReports(place, ["large.xml"])).cases).toMatchObject([{ name: "last" }]);
    const cancel = new Error("canceled");
    const write = JUnitReader.prototype.push;
    let pushed = 0;
    JUnitReader.prototype.push = function (piece) {
      if (++pushed === 2) setImmediate(() => controller.abort(cancel));
      write.call(this, piece);
    };
    onTestFinished(() => {
      JUnitReader.prototype.push = write;
    });
    await expect(readReports(place, ["large.xml"])).rejects.toBe(cancel);
    expect(pushed).toBeLessThan(pieces);
  });

  it("cause a warning if they are missing", async () => {
    const { root } = checkout({ "out/log.txt": "x" });
    const none = { names: [], warnings: [warning("Found no test report: no file matches out/, none/\\*.xml")] };
    expect(await read(root, "out/", "none/*.xml")).toEqual(none);
  });

  it("are rejected as links out of the checkout", async () => {
    const { root, outside } = checkout({ "real.xml": suite(test("real")) });
    symlinkSync(outside, join(root, "link.xml"));
    symlinkSync(dirname(outside), join(root, "folder"));
    symlinkSync("real.xml", join(root, "inside.xml"));
    const { names, warnings } = await read(root, "*.xml");
    expect(names).toEqual(["real", "real"]);
    expect(warnings).toEqual([warning("link.xml is a link to a place outside")]);
    expect((await read(root, "folder/outside.xml")).names).toEqual([]);
  });

  it("are skipped if they are too large, alone or together", async () => {
    const { root } = checkout({ "1.xml": suite(test("one")), "2.xml": "", "3.xml": suite(test("three")) });
    truncateSync(join(root, "2.xml"), 30 * 1024 * 1024 + 1);
    expect(await read(root, "*.xml")).toEqual({
      names: ["one", "three"],
      warnings: [warning("larger than 30 MiB", "2.xml")],
    });
    for (const more of ["a", "b", "c"]) {
      writeFileSync(join(root, `2${more}.xml`), Buffer.alloc(25 * 1024 * 1024, " "));
    }
    const { names, warnings } = await read(root, "*.xml");
    expect(names).toEqual(["one"]);
    expect(warnings.at(-1)).toEqual(warning("all after it.*100 MiB", "2c.xml"));
  });

  it("have at most 100,000 tests together", async () => {
    const many = suite(test("x").repeat(60_000));
    const { root } = checkout({ "1.xml": many, "2.xml": many, "3.xml": suite(test("y").repeat(40_000)) });
    const { names, warnings } = await read(root, "*.xml");
    expect(names).toHaveLength(100_000);
    expect(warnings).toEqual([warning("more than 40000 test cases", "2.xml")]);
  });

  it.runIf(isRoot)("are read only with the rights of the steps' user", async () => {
    const { root } = checkout({ "mine.xml": suite(test("mine")), "roots.xml": suite(test("root's")) });
    const user = unnamedUser();
    execFileSync("chmod", ["-R", "a+rX", dirname(root)]);
    execFileSync("chmod", ["600", join(root, "roots.xml")]);
    const place = { root, signal: new AbortController().signal };
    expect((await readReports({ ...place, user: null }, ["*.xml"])).cases).toHaveLength(2);
    const { cases, warnings } = await readReports({ ...place, user }, ["mine.xml", "roots.xml"]);
    expect(cases.map(({ name }) => name)).toEqual(["mine"]);
    expect(warnings).toEqual([warning("Left out: roots.xml cannot be read")]);
    execFileSync("mkdir", ["-m", "700", join(root, "data")]);
    expect((await readReports({ ...place, user }, ["**/m*.xml"])).cases).toHaveLength(1);
  });
});
