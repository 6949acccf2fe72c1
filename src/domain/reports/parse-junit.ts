import { SaxesParser, type SaxesTagPlain } from "saxes";
import { KIB, MIB } from "../../protocol/units.ts";
import { ReferenceRepair } from "./repair-references.ts";

/** One `testcase` element: one try of one test, as its tool reports it. */
export interface TestCase {
  /** Names of the enclosing suites, outermost first, joined by " > ". */
  suite: string;
  className: string;
  name: string;
  /** The source file as the tool names it, and the line in it; null if they are unknown. */
  file: string | null;
  line: number | null;
  /** The test's duration; null if the report has no plausible number. */
  seconds: number | null;
  outcome: "passed" | "failed" | "skipped";
  /** Failed tries that the tool put into this element (Surefire's `flakyFailure`, `rerunFailure`). */
  failedTries: number;
  /** The first line of a failure's message, and the failure's stack or other text. Both are empty without a failure. */
  message: string;
  text: string;
}

/** The file is not a test report. The message has line and column and quotes at most the name of an element. */
export class ReportRefused extends Error {}

/**
 * The limits of a parsed report. The parser cuts texts at lengths beyond those that the agent sends, so that the mask
 * sees a whole secret before a cut.
 */
export const REPORT_LIMITS = {
  fileBytes: 30 * MIB,
  jobBytes: 100 * MIB,
  jobCases: 100_000,
  nameCharacters: 1_000,
  messageCharacters: 4_000,
  /** The maximum number of characters in the text of one failure. */
  textCharacters: 20 * KIB,
  /** The maximum number of suites around a test case. */
  depth: 100,
} as const;

const FAILURES = new Set(["failure", "error"]);
/** Surefire's elements for tries before the final one. */
const EARLIER_TRIES = new Set(["flakyFailure", "flakyError", "rerunFailure", "rerunError"]);
const NOT_RUN = new Set(["disabled", "skipped", "notrun", "ignored"]);
/**
 * Matches errors for characters that XML forbids but that tools write anyway, such as colours in a message or `<` in an
 * attribute.
 */
const TOLERATED = /disallowed character/;
/**
 * The maximum number of tolerated errors. Each such error takes time, so a file full of them would keep the agent busy.
 */
const MOST_TOLERATED = 10_000;
/** The maximum depth of nested elements, and the maximum number of attributes of one element. */
const MOST_DEPTH = 2 * REPORT_LIMITS.depth;
const MOST_ATTRIBUTES = 1_000;

/**
 * Returns the test cases of a JUnit report (https://github.com/testmoapp/junitxml lists the dialects).
 * @param maxCases the maximum number of cases
 * @throws ReportRefused if the report is not well-formed, has a DOCTYPE, no suite as its root, or too many cases
 */
export const parseJUnit = (report: string, maxCases: number = REPORT_LIMITS.jobCases): TestCase[] => {
  const reader = new JUnitReader(maxCases);
  reader.push(report);
  return reader.end();
};

/** Reads a report in pieces. Each call throws ReportRefused as `parseJUnit` does. */
export class JUnitReader {
  readonly #parser = new SaxesParser<{ xmlns: false; position: true }>({ xmlns: false, position: true });
  readonly #repair = new ReferenceRepair(() => this.#tolerate());
  readonly #maxCases: number;
  readonly #cases: TestCase[] = [];
  readonly #open: string[] = [];
  /** The names of the enclosing suites. Each name includes the names around it. */
  readonly #suites: string[] = [];
  #case: TestCase | null = null;
  #tolerated = 0;
  #attributes = 0;
  /** Whether the report is empty. A tool leaves an empty report if it had no test to run. */
  #isEmpty = true;
  /** Whether text belongs to the failure of the current case. */
  #inFailure = false;

  constructor(maxCases: number) {
    this.#maxCases = maxCases;
    this.#parser.on("doctype", () => this.#refuse("has a DOCTYPE, which no test report needs"));
    this.#parser.on("error", (error) => {
      if (!TOLERATED.test(error.message)) this.#refuse(`is not well-formed: ${parserReason(error.message)}`);
      this.#tolerate();
    });
    this.#parser.on("opentagstart", () => {
      this.#attributes = 0;
    });
    this.#parser.on("attribute", () => {
      if (++this.#attributes > MOST_ATTRIBUTES) this.#refuse("has an element with too many attributes");
    });
    this.#parser.on("opentag", (tag) => this.#opened(tag));
    this.#parser.on("closetag", ({ name }) => this.#closed(name));
    this.#parser.on("text", (text) => this.#said(text));
    this.#parser.on("cdata", (text) => this.#said(text));
  }

  push(piece: string): void {
    this.#isEmpty &&= piece.trim() === "";
    this.#parser.write(this.#repair.push(piece));
  }

  end(): TestCase[] {
    if (!this.#isEmpty) this.#parser.write(this.#repair.push("", true)).close();
    return this.#cases;
  }

  #tolerate(): void {
    if (++this.#tolerated > MOST_TOLERATED) this.#refuse("has too many characters that XML forbids");
  }

  #opened({ name, attributes }: SaxesTagPlain): void {
    const isRoot = this.#open.length === 0;
    if (isRoot && name !== "testsuites" && name !== "testsuite")
      this.#refuse("is not a JUnit report: its root element must be testsuites or testsuite");
    if (this.#open.length === MOST_DEPTH) this.#refuse("has too deeply nested elements");
    this.#open.push(name);
    if (name === "testsuite") this.#enter(attributes.name ?? "");
    else if (name === "testcase") this.#begin(attributes);
    else if (this.#case) this.#readChild(this.#case, name, attributes);
  }

  #enter(suite: string): void {
    if (this.#suites.length === REPORT_LIMITS.depth) this.#refuse("has too deeply nested suites");
    const around = [this.#suites.at(-1) ?? "", suite].filter(Boolean);
    this.#suites.push(cut(around.join(" > "), REPORT_LIMITS.nameCharacters));
  }

  #begin(attributes: Record<string, string>): void {
    if (this.#cases.length === this.#maxCases) this.#refuse(`has more than ${this.#maxCases} test cases`);
    const { nameCharacters } = REPORT_LIMITS;
    this.#case = {
      suite: this.#suites.at(-1) ?? "",
      className: cut(attributes.classname ?? attributes.class ?? "", nameCharacters),
      name: cut(attributes.name ?? "", nameCharacters),
      file: attributes.file ? cut(attributes.file, nameCharacters) : null,
      line: wholeNumber(attributes.line),
      seconds: readSeconds(attributes.time),
      outcome: NOT_RUN.has((attributes.status ?? "").toLowerCase()) ? "skipped" : "passed",
      failedTries: 0,
      message: "",
      text: "",
    };
    this.#cases.push(this.#case);
  }

  #readChild(test: TestCase, element: string, attributes: Record<string, string>): void {
    if (element === "skipped" && test.outcome !== "failed") test.outcome = "skipped";
    if (EARLIER_TRIES.has(element)) test.failedTries++;
    if (FAILURES.has(element)) test.outcome = "failed";
    else if (!EARLIER_TRIES.has(element)) return;
    this.#inFailure = true;
    if (test.message === "") {
      const message = attributes.message || attributes.type || "";
      test.message = cut(message.trim(), REPORT_LIMITS.messageCharacters);
    }
    test.file ??= attributes.file ? cut(attributes.file, REPORT_LIMITS.nameCharacters) : null;
    test.line ??= wholeNumber(attributes.line);
    if (test.text !== "") this.#said("\n");
  }

  #said(text: string): void {
    const test = this.#case;
    const element = this.#open.at(-1) ?? "";
    if (!test || !this.#inFailure || element.startsWith("system-")) return;
    const room = REPORT_LIMITS.textCharacters - test.text.length;
    if (room > 0) test.text += cut(text, room);
  }

  #closed(name: string): void {
    this.#open.pop();
    if (name === "testsuite") this.#suites.pop();
    if (name === "testcase") this.#case = null;
    if (FAILURES.has(name) || EARLIER_TRIES.has(name)) this.#leaveFailure();
  }

  #leaveFailure(): void {
    this.#inFailure = false;
    if (!this.#case) return;
    this.#case.text = this.#case.text.trim();
    if (this.#case.message === "") this.#case.message = this.#case.text.split("\n", 1)[0] ?? "";
  }

  #refuse(reason: string): never {
    const { line, column } = this.#parser;
    throw new ReportRefused(`${reason} (line ${line}, column ${column + 1})`);
  }
}

/** Returns the parser's message without its position and without quotes from the file. */
const parserReason = (message: string): string => message.replace(/^\d+:\d+: /, "").replace(/[.:].*$/s, "");

const cut = (text: string, characters: number): string => (text.length > characters ? text.slice(0, characters) : text);

const wholeNumber = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : null;

/** Reads a number of seconds. Some tools group thousands (`1,234.5`), and some write words. */
const readSeconds = (text = ""): number | null =>
  /^\d[\d,]{0,12}(\.\d+)?(e-?\d)?$/i.test(text) ? Number(text.replaceAll(",", "")) : null;
