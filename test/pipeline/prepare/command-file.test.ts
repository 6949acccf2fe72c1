import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readArtifactFile, readCommandFile, readEnvFile } from "../../../src/pipeline/prepare/command-files.ts";

describe("a command file", () => {
  it.each([
    [
      "A=1\nB=x=y\n\nC=\r\n",
      [
        ["A", "1"],
        ["B", "x=y"],
        ["C", ""],
      ],
    ],
    [
      "A<<END\none\n  two=2\n\nEND\nB=1",
      [
        ["A", "one\n  two=2\n"],
        ["B", "1"],
      ],
    ],
    ["A<<B\nB\n", [["A", ""]]],
    ["A=1<<2\n", [["A", "1<<2"]]],
    ["out-put=1\n", [["out-put", "1"]]],
    ["", []],
  ])("is read: %j", (content, expected) => {
    const { entries, problems } = readCommandFile(content);
    expect(entries.map(({ name, value }) => [name, value])).toEqual(expected);
    expect(problems).toEqual([]);
  });

  it.each([
    ["A=1\nnothing\n", 2, "must be NAME=value or NAME<<END"],
    ["1A=x\n", 1, "the name must be letters, digits, _ and -"],
    [" A=x\n", 1, "the name must be letters, digits, _ and -"],
    ["=x\n", 1, "the name must be letters, digits, _ and -"],
    ["A<<END\nx\n", 1, "the line that ends this value is missing"],
    ["A<<\nx\n", 1, "the line that ends this value is missing"],
    ["A=x\0y\n", 1, "the value has a NUL character"],
  ])("%j is wrong in line %i", (content, line, message) => {
    expect(readCommandFile(content).problems).toEqual([{ line, message }]);
  });

  it("returns any value in the heredoc form unchanged", () => {
    const value = fc.string({ unit: "binary" }).map((text) => text.replaceAll(/[\0\r]/g, ""));
    fc.assert(
      fc.property(fc.array(value, { maxLength: 5 }), (values) => {
        const content = values.map((text, index) => `N${index}<<-E-N-D-\n${text}\n-E-N-D-\n`).join("");
        expect(readCommandFile(content).entries.map((entry) => entry.value)).toEqual(values);
      }),
    );
  });

  it("of MILLRACE_ENV has only names of variables, and none of the service's", () => {
    const { entries, problems } = readEnvFile("A=1\nA-B=2\nMILLRACE_X=3\nmillrace_y=4\nPATH=/x\n__proto__=p\n");
    expect(entries.map((entry) => entry.name)).toEqual(["A", "PATH", "__proto__"]);
    expect(problems).toHaveLength(3);
  });

  it("of MILLRACE_ENV rejects a value that is too large for a program's environment", () => {
    const most = "x".repeat(130_560);
    expect(readEnvFile(`A=${most}\n`).problems).toEqual([]);
    const { entries, problems } = readEnvFile(`FEW=1\nCHANGED<<END\n${most}漢\nEND\n`);
    expect(entries.map((entry) => entry.name)).toEqual(["FEW"]);
    expect(problems).toEqual([
      { line: 2, message: "CHANGED is larger than the 130560 bytes that a variable may have" },
    ]);
    expect(readCommandFile(`CHANGED=${most}x\n`).problems).toEqual([]);
  });

  it("of MILLRACE_ARTIFACT has a name and a path per line, and as many per artifact as it may have files", () => {
    expect(readArtifactFile("a=x\nb=y=z\n\na=!w\n").artifacts).toEqual([
      { name: "a", paths: ["x", "!w"] },
      { name: "b", paths: ["y=z"] },
    ]);
    const { artifacts, problems } = readArtifactFile("a=b\n".repeat(5002));
    expect(artifacts[0]?.paths).toHaveLength(5000);
    expect(problems.map(({ line }) => line)).toEqual([5001, 5002]);
    expect(problems[0]?.message).toBe("an artifact has at most 5,000 paths: name a folder, or write a pattern");
  });
});
