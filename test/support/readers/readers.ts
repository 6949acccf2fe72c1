// biome-ignore lint/suspicious/noExplicitAny: what a file exports is known when it is loaded.
type Exports = any;

/** A file of `src` that reads the text of a step, a file or a host, with its worst known inputs. */
export interface Reader {
  file: string;
  /** The reading functions by name, and the only files that may import each. */
  readBy: Record<string, readonly string[]>;
  /** By title: a function that reads an input of `size` with the file's exports. */
  worst: Record<string, (exports: Exports, size: number) => void>;
}

const times = (size: number, text: (index: number) => string): string =>
  Array.from({ length: size }, (_, index) => text(index)).join("");
const NO_LIMIT = { left: Number.POSITIVE_INFINITY };
const FILE = { size: 0, mode: "644", sha256: "0".repeat(64), crc32: "0".repeat(8) };
const LISTENER = { begin() {}, content() {}, end() {} };

const tarOf = (header: (member: object) => Buffer, size: number, path: string): Buffer =>
  Buffer.concat([
    ...Array.from({ length: size }, () => header({ kind: "file", path, mode: 0o644, size: 0, mtime: 0, link: "" })),
    Buffer.alloc(1024),
  ]);

/** The parsing functions of a package, and the only files that may import them: the whole package without names. */
export const PARSERS: Record<string, { names: readonly string[] | null; files: readonly string[] }> = {
  saxes: { names: null, files: ["src/domain/reports/parse-junit.ts"] },
  "markdown-it": { names: null, files: ["src/dashboard/build/client/markdown.ts"] },
  anser: { names: null, files: ["src/dashboard/log-viewer/client/paint.ts"] },
  // The second file reads mise's output, before any code of a tool has run.
  "smol-toml": { names: null, files: ["src/agent/tools/version-files.ts", "src/agent/tools/mise-files.ts"] },
  yaml: {
    names: ["parse", "parseDocument", "parseAllDocuments", "Parser", "Lexer", "Composer"],
    files: ["src/pipeline/yaml/yaml-document.ts"],
  },
  // The importer is a separate program, on its caller's machine.
  "@actions/expressions": {
    names: ["Lexer", "Parser"],
    files: ["src/pipeline/expression/parse.ts", "src/importer/expression-tree.ts"],
  },
  "@actions/workflow-parser": {
    names: ["parseWorkflow", "convertWorkflowTemplate"],
    files: ["src/importer/read-workflow.ts"],
  },
};

/**
 * All code that reads long texts of others. `test/domain/readers.test.ts` makes each read n and 2n of its worst input.
 */
export const READERS: readonly Reader[] = [
  {
    file: "src/pipeline/prepare/command-files.ts",
    readBy: {
      readCommandFile: ["src/agent/steps/command-files.ts"],
      readEnvFile: ["src/agent/steps/command-files.ts"],
      readArtifactFile: ["src/agent/steps/command-files.ts"],
    },
    worst: {
      "one-line values": ({ readCommandFile }, n) => readCommandFile("a=b\n".repeat(n)),
      "multi-line values": ({ readCommandFile }, n) => readCommandFile("a<<E\nx\nE\n".repeat(n)),
      "invalid lines": ({ readCommandFile }, n) => readCommandFile("a<b\n".repeat(n)),
      "a missing end marker": ({ readCommandFile }, n) => readCommandFile(`${"a=b\n".repeat(n)}a<<E\n`),
      variables: ({ readEnvFile }, n) => readEnvFile("a-b=c\n".repeat(n)),
      "artifacts' paths": ({ readArtifactFile }, n) => readArtifactFile("a=b\n".repeat(n)),
      "artifacts' names": ({ readArtifactFile }, n) => readArtifactFile(times(n, (index) => `a${index}=b\n`)),
    },
  },
  {
    file: "src/pipeline/prepare/path-file.ts",
    readBy: { readPathFile: ["src/agent/steps/command-files.ts"] },
    worst: { folders: ({ readPathFile }, n) => readPathFile("/a\nb\n".repeat(n)) },
  },
  {
    file: "src/pipeline/prepare/command-files.ts",
    readBy: {
      readMaskFile: ["src/agent/steps/command-files.ts"],
      MaskFileReader: ["src/agent/steps/command-files.ts"],
    },
    worst: {
      "a repeated end marker that is missing": ({ readMaskFile }, n) => readMaskFile("<<x\n".repeat(n)),
      "different end markers that are missing": ({ readMaskFile }, n) =>
        readMaskFile(times(n, (index) => `<<${index}\n`)),
      "nested values": ({ readMaskFile }, n) =>
        readMaskFile(times(n, (index) => `<<${index}\n`) + times(n, (index) => `${n - 1 - index}\n`)),
      "a growing file": ({ MaskFileReader }, n) => {
        const reader = new MaskFileReader({ left: 10 * n });
        for (let index = 0; index < n; index++) reader.push(`<<${index}\n`);
        for (let index = n - 1; index >= 0; index--) reader.push(`${index}\n`);
        for (let index = 0; index < n; index++) reader.push("x");
      },
    },
  },
  {
    file: "src/agent/steps/step-log-writer.ts",
    readBy: { MaskCommandParser: ["src/agent/steps/step-log-writer.ts"] },
    worst: {
      commands: ({ MaskCommandParser }, n) => new MaskCommandParser().push(Buffer.from("::add-mask::x\n".repeat(n))),
      "a line with only commands": ({ MaskCommandParser }, n) =>
        new MaskCommandParser().push(Buffer.from("::add-mask::".repeat(n))),
    },
  },
  {
    file: "src/domain/reports/parse-junit.ts",
    readBy: { parseJUnit: [], JUnitReader: ["src/agent/reports/test-reporter.ts"] },
    worst: {
      "a failure's text in pieces": ({ parseJUnit }, n) =>
        parseJUnit(
          `<testsuite><testcase><failure>${"<![CDATA[xxxxxxxx]]>".repeat(n)}</failure></testcase></testsuite>`,
        ),
      "references in a failure's text": ({ parseJUnit }, n) =>
        parseJUnit(`<testsuite><testcase><failure>${"&lt;&".repeat(n)}</failure></testcase></testsuite>`),
      "tests in many suites": ({ parseJUnit }, n) => {
        const suites = `<testsuite name="${"s".repeat(20)}">`.repeat(40);
        parseJUnit(`${suites}${"<testcase/>".repeat(n)}${"</testsuite>".repeat(40)}`);
      },
      "a report in pieces": ({ JUnitReader }, n) => {
        const reader = new JUnitReader(10);
        reader.push("<testsuite><!--");
        for (let index = 0; index < n; index++) reader.push("-&<");
      },
    },
  },
  {
    file: "src/domain/artifact/file-list.ts",
    readBy: { listProblem: ["src/services/uploads/artifact-uploads.ts"] },
    worst: {
      "files in deep folders": ({ listProblem }, n) => {
        const list = Array.from({ length: n }, (_, index) => ({ ...FILE, path: `${index}${"/a".repeat(200)}` }));
        if (listProblem(list, { bytes: 0, files: n }) !== null) throw new Error("This list is valid");
      },
    },
  },
  {
    file: "src/agent/files/tar.ts",
    readBy: { TarReader: ["src/agent/files/receive-files.ts"] },
    worst: {
      headers: ({ TarReader, tarHeader }, n) =>
        new TarReader(LISTENER).push(tarOf(tarHeader, n, `${"a/".repeat(90)}a`)),
      "a name made of slashes": ({ TarReader, tarHeader }, n) =>
        new TarReader(LISTENER).push(tarOf(tarHeader, 1, `a${"/".repeat(n)}b`)),
    },
  },
  {
    file: "src/domain/patterns.ts",
    readBy: {
      nameMatcher: ["src/agent/cache/prepare-cache.ts", "src/domain/artifact/chosen-paths.ts"],
      isTouched: [
        ...["src/agent/build/job-facts.ts", "src/pipeline/graph/group-protection.ts"],
        ...["src/pipeline/expression/changed.ts", "src/githosts/core/wants.ts"],
      ],
    },
    worst: {
      "a long name": ({ nameMatcher }, n) => nameMatcher(["**a*".repeat(60)], NO_LIMIT)("a".repeat(n)),
      "many names": ({ isTouched }, n) =>
        isTouched([`${"*a".repeat(20)}*b`], Array(n).fill(`${"a".repeat(30)}bc`), NO_LIMIT),
    },
  },
  {
    file: "src/agent/tools/version-files.ts",
    readBy: { toolsInFiles: ["src/agent/tools/tools-of-job.ts"] },
    worst: {
      "mise tools": ({ toolsInFiles }, n) =>
        toolsInFiles(new Map([["mise.toml", `[tools]\n${times(n, (index) => `"npm:a${index}"="1"\n`)}`]])),
      comments: ({ toolsInFiles }, n) => toolsInFiles(new Map([[".nvmrc", `${"#".repeat(n)}\r`]])),
    },
  },
  {
    file: "src/pipeline/yaml/yaml-document.ts",
    readBy: {
      parseYaml: [
        ...["src/pipeline/parse/read-file.ts", "src/pipeline/parse/read-file.ts", "src/importer/read-workflow.ts"],
      ],
    },
    worst: {
      "many lines": ({ parseFile }, n) => parseFile(`steps:\n  - run: a\nenv:\n${times(n, (i) => `  A${i}: b\n`)}`),
    },
  },
  {
    file: "src/pipeline/expression/parse.ts",
    readBy: { parseExpression: ["src/pipeline/graph/condition.ts", "src/pipeline/yaml/template-parser.ts"] },
    worst: { "many words": ({ parseExpression }, n) => parseExpression(`true${" || true".repeat(n / 20)}`) },
  },
  {
    file: "src/domain/failure/error-lines.ts",
    readBy: { findFailedLine: ["src/objects/log/text.ts"], excerptOf: ["src/services/builds/failure.ts"] },
    worst: {
      "a line of carriage returns": ({ findFailedLine }, n) => findFailedLine(`${"\r".repeat(n)}x`),
      "many lines": ({ findFailedLine }, n) => findFailedLine("error: expected\n".repeat(n)),
    },
  },
  {
    file: "src/dashboard/build/client/markdown.ts",
    readBy: { toHtml: ["src/dashboard/build/client/markdown.ts"] },
    worst: {
      brackets: ({ toHtml }, n) => toHtml("[".repeat(n)),
      emphasis: ({ toHtml }, n) => toHtml("*a **b ".repeat(n)),
      "nested lists": ({ toHtml }, n) => toHtml("- ".repeat(n)),
      backticks: ({ toHtml }, n) => toHtml(times(Math.sqrt(2 * n), (index) => `${"`".repeat(index + 1)} `)),
    },
  },
  {
    file: "src/dashboard/log-viewer/client/paint.ts",
    readBy: { paintLine: ["src/dashboard/log-viewer/client/line-rows.ts"] },
    worst: {
      colours: ({ paintLine }, n) => paintLine("\x1b[31mx\x1b[0m".repeat(n), ""),
      addresses: ({ paintLine }, n) => paintLine("https://a.example/) ".repeat(n / 4), ""),
      "punctuation in an address": ({ paintLine }, n) => paintLine(`https://a${".".repeat(n)}x`, ""),
    },
  },
];
