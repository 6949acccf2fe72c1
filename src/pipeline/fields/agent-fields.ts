import { isScalar, type Node } from "yaml";
import { NO_WINDOWS } from "../../domain/requires.ts";
import { LABEL, LABEL_RULE } from "../../protocol/common.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { field, list, mapping } from "../yaml/collection-parsers.ts";
import { either, type NodeParser, type ParsedBy, type ScalarText } from "../yaml/node-parser.ts";
import { choice, flag, name, text, wholeNumber } from "../yaml/scalar-parsers.ts";

/* A job's requirements for its agent before the first step. */

const label = name(LABEL, `A label ${LABEL_RULE}`);

export const PLATFORMS = ["macos", "linux"] as const;
const ANY_PLATFORM = choice(...PLATFORMS);

const PLATFORM: typeof ANY_PLATFORM = {
  schema: ANY_PLATFORM.schema,
  parse(node, context) {
    const target = context.resolve(node);
    if (!isScalar(target) || target.value !== "windows") return ANY_PLATFORM.parse(node, context);
    context.mistake(node, NO_WINDOWS);
    return undefined;
  },
};

export const REQUIRES = mapping(
  {
    platform: field(PLATFORM, "Operating system of the agent."),
    ios: field(flag, "The agent can build for iOS."),
    android: field(flag, "The agent can build for Android."),
    web: field(flag, "The agent can build for the web."),
    labels: field(list(label, { atMost: LIMITS.labels }), "Labels that the agent must all have."),
  },
  { name: "`requires`" },
);

/** A value, or an expression for it. */
const orTemplate = <Value>(parser: NodeParser<Value>): NodeParser<Value | ScalarText> =>
  either(parser, (node: Node) => !isScalar(node) || !String(node.value).includes("${{"), text());

/** The parser of `requires`, where the combination of a matrix may decide. Every value can contain expressions. */
export const REQUIRES_OF_JOB = mapping(
  {
    platform: field(orTemplate(PLATFORM), "Operating system of the agent. May use ${{ }}."),
    ios: field(orTemplate(flag), "The agent can build for iOS. May be ${{ }}."),
    android: field(orTemplate(flag), "The agent can build for Android. May be ${{ }}."),
    web: field(orTemplate(flag), "The agent can build for the web. May be ${{ }}."),
    labels: field(
      list(orTemplate(label), { atMost: LIMITS.labels }),
      "Labels that the agent must all have. May use ${{ }}.",
    ),
  },
  {
    name: "`requires`",
    adviceForList: "`requires` is for the agent. The jobs to wait for are in `needs`",
  },
);
export type WrittenRequires = ParsedBy<typeof REQUIRES_OF_JOB>;

const FETCH = mapping(
  {
    depth: field(wholeNumber(0, 1_000_000), "Commits to fetch, 1 by default; 0 is the whole history."),
    submodules: field(choice<boolean | "recursive">(false, true, "recursive"), "Whether submodules are fetched too."),
    lfs: field(flag, "Whether the files of Git LFS are fetched."),
    "fetch-tags": field(flag, "Whether tags are fetched."),
    path: field(
      choice("stable"),
      "`stable` for the same path in each build of the pipeline on an agent, for tools that remember paths.",
    ),
    mtimes: field(choice("commit"), "`commit` for files with the time of the commit that last changed them."),
  },
  { name: "`checkout`" },
);

const isFalse = (node: Node): boolean => isScalar(node) && node.value === false;

export const CHECKOUT = either(choice<false>(false), isFalse, FETCH);
export type WrittenCheckout = ParsedBy<typeof CHECKOUT>;
