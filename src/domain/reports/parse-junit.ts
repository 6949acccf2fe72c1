import { SaxesParser, type SaxesTagPlain } from "saxes";
import { KIB, MIB } from "../../protocol/units.ts";
import { ReferenceRepair } from "./repair-references.ts";

/** One `testcase` element: one try of one test, as its tool wrote it down. */
export interface TestCase {
  /** Names of the suites around it, outermost first, joined by " > ". */
  suite: string;
  className: string;
  name: string;
  /** Source file as the tool names it, and the line in it; null where it does not. */
  file: string | null;
  line: number | null;
  /** Null where the report has no number that makes sense. */
  seconds: number | null;
  outcome: "passed" | "failed" | "skipped";
  /** Failed tries that the tool itself put into this element (Surefire's `flakyFailure`, `rerunFailure`). */
  failedTries: number;
  /** Of a failure: its first line of words, and its stack or other text. Empty without one. */
  message: string;
  text: string;
}

/** A file that is no test report. The message has line and column and never more of the file than an element's name. */
export class ReportRefused extends Error {}

/** Texts are cut later than what is sent of them, so that a secret is masked before it is cut through. */
export const REPORT_LIMITS = {
  fileBytes: 30 * MIB,
  jobBytes: 100 * MIB,
  jobCases: 100_000,
  nameCharacters: 1_000,
  messageCharacters: 4_000,
  /** Of a failure. */
  textCharacters: 20 * KIB,
  /** Suites around a test case. */
  depth: 100,
} as const;

const FAILURES = new Set(["failure", "error"]);
/** Tries before the one that counts, in Surefire's words. */
const EARLIER_TRIES = new Set(["flakyFailure", "flakyError", "rerunFailure", "rerunError"]);
const NOT_RUN = new Set(["disabled", "skipped", "notrun", "ignored"]);
/** Characters that XML forbids and tools write all the same, as colours in a message or `<` in an attribute. */
const TOLERATED = /disallowed character/;
/** Each takes its time: a file of nothing else would keep the agent busy. */
const MOST_TOLERATED = 10_000;
/** Elements within each other, and attributes of one. */
const MOST_DEPTH = 2 * REPORT_LIMITS.depth;
const MOST_ATTRIBUTES = 1_000;

/**
 * The test cases of a JUnit report (https://github.com/testmoapp/junitxml has the dialects).
 * @param maxCases how many it may have
 * @throws ReportRefused for what is not well-formed, has a DOCTYPE, no suite as its root, or too many cases
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
  /** The names of the suites around, each with those around it. */
  readonly #suites: string[] = [];
  #case: TestCase | null = null;
  #tolerated = 0;
  #attributes = 0;
  /** A report without any byte is what a tool leaves that had no test to run. */
  #isEmpty = true;
  /** Whether text belongs to the failure of the present case. */
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
      this.#refuse("is no JUnit report: its root is another");
    if (this.#open.length === MOST_DEPTH) this.#refuse("has too many elements within each other");
    this.#open.push(name);
    if (name === "testsuite") this.#enter(attributes.name ?? "");
    else if (name === "testcase") this.#begin(attributes);
    else if (this.#case) this.#readChild(this.#case, name, attributes);
  }

  #enter(suite: string): void {
    if (this.#suites.length === REPORT_LIMITS.depth) this.#refuse("has too many suites within each other");
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

/** The parser's words without its place, and without what it quotes. */
const parserReason = (message: string): string => message.replace(/^\d+:\d+: /, "").replace(/[.:].*$/s, "");

const cut = (text: string, characters: number): string => (text.length > characters ? text.slice(0, characters) : text);

const wholeNumber = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : null;

/** Some tools group thousands (`1,234.5`), and some write words. */
const readSeconds = (text = ""): number | null =>
  /^\d[\d,]{0,12}(\.\d+)?(e-?\d)?$/i.test(text) ? Number(text.replaceAll(",", "")) : null;
