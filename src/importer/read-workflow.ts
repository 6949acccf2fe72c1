import { FeatureFlags } from "@actions/expressions/features";
import { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } from "@actions/workflow-parser";
import { TemplateContext, TemplateValidationErrors } from "@actions/workflow-parser/templates/template-context";
import type { MappingToken } from "@actions/workflow-parser/templates/tokens/mapping-token";
import { getWorkflowSchema } from "@actions/workflow-parser/workflows/workflow-schema";
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  stringify,
  visit,
} from "yaml";
import { FILE_LIMITS, FileLimitExceeded } from "../pipeline/fields/limits.ts";
import { parseYaml } from "../pipeline/yaml/yaml-document.ts";
import { withCommas } from "../protocol/limits.ts";
import type { Beside } from "./beside.ts";
import { asMapping, find, itemsOf, Source, type WorkflowToken } from "./source.ts";

/** The file cannot be translated at all. The message says why, and what to do. */
export class Untranslatable extends Error {}

/** The maximum number of mistakes that one message lists. */
const MOST_MISTAKES = 20;

const place = (counter: LineCounter, offset: number): string => {
  const { line, col } = counter.linePos(offset);
  return `line ${line}, column ${col}`;
};

/** Parses the document, within the limits of a pipeline file. @throws {Untranslatable} */
const parseDocument = (text: string, counter: LineCounter): Document.Parsed => {
  if (text.length > FILE_LIMITS.characters)
    throw new Untranslatable(`it has more than ${withCommas(FILE_LIMITS.characters)} characters`);
  try {
    const { document, errors } = parseYaml(text, counter, { tokens: 0, marks: 0 });
    // GitHub handles an unknown tag as this parser does.
    const [first] = errors.filter(({ code }) => code !== "TAG_RESOLVE_FAILED");
    if (first?.code === "MULTIPLE_DOCS")
      throw new Untranslatable("it has several documents: give one workflow at a time");
    if (first)
      throw new Untranslatable(
        `it is not valid YAML, at ${place(counter, first.offset)}: ${first.message}. Correct it first, even if GitHub accepts it`,
      );
    if (!document || !isMap(document.contents))
      throw new Untranslatable("it is not a workflow: it has no `on` and no `jobs`");
    return document;
  } catch (error) {
    if (error instanceof FileLimitExceeded)
      throw new Untranslatable(`${error.message} (${place(counter, error.offset)})`);
    throw error;
  }
};

/** Rejects a file whose aliases stand for more values than a pipeline file may have: each alias would be read again. */
const boundAliases = (document: Document.Parsed): void => {
  const sizes = new Map<Node, number>();
  const anchors = new Map<string, Node>();
  const measure = (node: unknown): number => {
    if (isPair(node)) return measure(node.key) + measure(node.value);
    if (isAlias(node)) return sizes.get(anchors.get(node.source) as Node) ?? 1;
    if (isScalar(node)) return 1 + (node.source?.length ?? 0) / 8;
    return isCollection(node) ? node.items.reduce((sum: number, item) => sum + measure(item), 1) : 1;
  };
  // In the file's order. An alias refers to an earlier node, whose size is then known.
  visit(document, {
    Alias: (_, node) => {
      const target = anchors.get(node.source);
      if (target && !sizes.has(target)) sizes.set(target, measure(target));
    },
    Node: (_, node) => {
      if (!isAlias(node) && node.anchor) anchors.set(node.anchor, node);
    },
  });
  if (measure(document.contents) > FILE_LIMITS.values)
    throw new Untranslatable("its aliases expand to more values than a pipeline file may have: use fewer aliases");
};

/** Parses the document and limits the size of its repeated parts. @throws {Untranslatable} */
export const documentIn = (text: string, counter: LineCounter): Document.Parsed => {
  const document = parseDocument(text, counter);
  boundAliases(document);
  return document;
};

const readEvents = (document: Document.Parsed): string[] => {
  const on = (document.contents as { get(key: string, keep: true): unknown }).get("on", true);
  if (isScalar(on)) return [String(on.value)];
  if (isSeq(on)) return on.items.map((item) => String(isScalar(item) ? item.value : ""));
  return isMap(on) ? on.items.map(({ key }) => String(isScalar(key) ? key.value : "")) : [];
};

/** Rejects files of GitHub Actions that are not workflows, or do not run by themselves. */
const refuseOthers = (document: Document.Parsed): void => {
  const has = (key: string) => document.has(key);
  if (has("runs") && !has("jobs"))
    throw new Untranslatable(
      "it is an action, not a workflow: rewrite its steps as a file of `steps`, and `include` that in the pipeline file",
    );
  const events = readEvents(document);
  if (events.length > 0 && events.every((event) => event === "workflow_call"))
    throw new Untranslatable(
      "it is a workflow that other workflows call (`workflow_call`): import a workflow that calls it, and add these jobs to the result",
    );
};

/** Filters of an event. Without them the event is unfiltered. */
const FILTERS = new Set(["branches", "branches-ignore", "tags", "tags-ignore", "paths", "paths-ignore", "types"]);

/** Events whose unknown keys GitHub ignores, with their known keys. */
const OPEN_EVENTS = new Map([
  ["push", FILTERS],
  ["pull_request", FILTERS],
  ["pull_request_target", FILTERS],
  ["workflow_dispatch", new Set(["inputs"])],
]);

/** Parts that are read differently: as missing, or as a mapping without keys. */
interface Gaps {
  ignored: [start: number, end: number][];
  empty: number[];
}

const isNothing = (value: unknown): boolean => value === null || (isScalar(value) && value.value === null);

const gapsIn = (text: string, document: Document.Parsed): Gaps => {
  const gaps: Gaps = { ignored: [], empty: [] };
  const after = (offset: number) => text.indexOf(":", offset) + 1;
  const on = document.get("on", true);
  for (const { key: event, value: keys } of isMap(on) ? on.items : [])
    for (const { key, value } of isMap(keys) ? keys.items : []) {
      if (!isMap(keys) || !isScalar(key)) continue;
      const name = String(key.value);
      const isKnown = OPEN_EVENTS.get(String(isScalar(event) ? event.value : ""))?.has(name) ?? true;
      if (!isKnown || ((FILTERS.has(name) || name === "inputs") && isNothing(value))) {
        const valueEnd = isScalar(value) || isCollection(value) ? value.range![1] : 0;
        const end = Math.max(after(key.range![1]), valueEnd);
        const comma = keys.flow ? (/^\s*,/.exec(text.slice(end, end + 100))?.[0].length ?? 0) : 0;
        gaps.ignored.push([key.range![0], end + comma]);
      } else if (name === "inputs" && isMap(value) && !value.flow)
        for (const input of value.items)
          if (isScalar(input.key) && isNothing(input.value)) gaps.empty.push(after(input.key.range![1]));
    }
  return gaps;
};

/**
 * Returns the text that GitHub's published parser needs, with every key in its place. GitHub itself reads `branches:`
 * as no filter and an input without a value as a text. It ignores an event's unknown keys.
 */
const asParsed = (text: string, document: Document.Parsed): string => {
  const { ignored, empty } = gapsIn(text, document);
  const pieces = [
    ...ignored.map(([start, end]) => ({ start, end, piece: text.slice(start, end).replaceAll(/[^\r\n]/g, " ") })),
    ...empty.map((at) => ({ start: at, end: at, piece: " {}" })),
  ].toSorted((a, b) => a.start - b.start);
  let kept = "";
  let at = 0;
  for (const { start, end, piece } of pieces) {
    kept += text.slice(at, start) + (start < at ? "" : piece);
    at = Math.max(at, end);
  }
  return kept + text.slice(at);
};

/** Features that GitHub's published parser knows but does not accept yet. */
const FEATURES = new FeatureFlags({ allowBackgroundSteps: true });

const newContext = (): TemplateContext => {
  const context = new TemplateContext(
    new TemplateValidationErrors(),
    getWorkflowSchema(),
    new NoOperationTraceWriter(),
  );
  context.state.featureFlags = FEATURES;
  return context;
};

export interface Workflow {
  root: MappingToken;
  source: Source;
}

/**
 * Parses a workflow as GitHub does, within the limits of a pipeline file.
 * @throws {Untranslatable} for a file that is not a workflow, or that GitHub would reject
 */
export const readWorkflow = async (text: string, name: string, beside?: Beside): Promise<Workflow> => {
  const counter = new LineCounter();
  const document = documentIn(text, counter);
  refuseOthers(document);
  const { context, value } = parseWorkflow({ name, content: asParsed(text, document) }, newContext());
  if (value && context.errors.count === 0)
    await convertWorkflowTemplate(context, value.clone(), undefined, { featureFlags: FEATURES });
  const mistakes = context.errors.getErrors().map(({ range, rawMessage }) => {
    const at = range ? `line ${range.start.line}, column ${range.start.column}: ` : "";
    return at + rawMessage;
  });
  if (mistakes.length > 0 || !value) {
    const listed = [...new Set(mistakes)].slice(0, MOST_MISTAKES).map((one) => `  ${one}`);
    throw new Untranslatable(["GitHub would reject it; correct it first:", ...listed].join("\n"));
  }
  return { root: asMapping(value), source: new Source(text, document, counter, beside) };
};

/** Parses steps as GitHub parses a job's steps. @throws {Untranslatable} if GitHub would reject them */
export const readStepList = (
  steps: object[],
  name: string,
  beside?: Beside,
): { tokens: WorkflowToken[]; source: Source } => {
  const content = stringify({ on: "push", jobs: { action: { "runs-on": "ubuntu-latest", steps } } }, { lineWidth: 0 });
  const { context, value } = parseWorkflow({ name, content }, newContext());
  const [problem] = context.errors.getErrors();
  if (problem || !value) throw new Untranslatable(problem?.rawMessage ?? "its steps cannot be read");
  const counter = new LineCounter();
  const source = new Source(content, documentIn(content, counter), counter, beside);
  return { tokens: itemsOf(find(find(find(asMapping(value), "jobs"), "action"), "steps")), source };
};
