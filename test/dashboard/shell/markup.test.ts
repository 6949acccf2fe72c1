import * as fc from "fast-check";
import { jsx as honoJsx } from "hono/jsx/jsx-runtime";
import { describe, expect, it } from "vitest";
import { type Child, Fragment, jsx } from "../../../src/dashboard/shell/markup.ts";
import { HOSTILE } from "../../support/hostile-texts.ts";

/** A page's element, or a text, number or condition in one, before it becomes markup. */
type Plan = string | number | boolean | null | undefined | Plan[] | Element;
interface Element {
  tag: string;
  attributes: Record<string, string | number | boolean | null | undefined>;
  children: Plan[];
}

const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.constantFrom("", "&amp;", `<b>'"&`, ...HOSTILE));
const name = fc.constantFrom(
  "class",
  "href",
  "title",
  "data-row",
  "aria-label",
  "spellcheck",
  "open",
  "hidden",
  "viewBox",
);
const value = fc.oneof(text, fc.integer(), fc.double(), fc.boolean(), fc.constantFrom(null, undefined));
const attributes = fc.dictionary(name, value, { noNullPrototype: true });

const { plan } = fc.letrec<{ plan: Plan }>((tie) => ({
  plan: fc.oneof(
    { maxDepth: 4 },
    value,
    fc.array(tie("plan"), { maxLength: 3 }),
    fc.record({ tag: fc.constantFrom("br", "hr", "img"), attributes, children: fc.constant<Plan[]>([]) }),
    fc.record({
      tag: fc.constantFrom("p", "section", "details", "textarea", "table"),
      attributes,
      children: fc.array(tie("plan"), { maxLength: 4 }),
    }),
  ),
}));

/** Builds the same calls as the compiler, from the inside to the outside. */
const build = <E>(make: (tag: string, properties: object) => E, plan: Plan): unknown => {
  if (Array.isArray(plan)) return plan.map((one) => build(make, one));
  if (typeof plan !== "object" || plan === null) return plan;
  const children = plan.children.map((child) => build(make, child));
  return make(plan.tag, { ...plan.attributes, children: children.length === 1 ? children[0] : children });
};

describe("page markup", () => {
  it("equals hono/jsx's output for the same elements", () => {
    fc.assert(
      fc.property(plan, (one) => {
        const whole = { tag: "main", attributes: {}, children: [one] };
        const own = build((tag, properties) => jsx(tag, properties as never), whole) as { html: string };
        expect(own.html).toBe(String(build((tag, properties) => honoJsx(tag, properties as never), whole)));
      }),
      { numRuns: 1000 },
    );
  });

  it("renders components and fragments", () => {
    const Greeting = ({ to }: { to: string }): Child => ["for ", jsx("b", { children: to })];
    expect(jsx(Fragment, { children: [jsx(Greeting, { to: "<you>" }), false, 0] }).html).toBe(
      "for <b>&lt;you&gt;</b>0",
    );
  });

  it("starts a document with its doctype", () => {
    expect(jsx("html", { lang: "en", children: "text" }).html).toBe('<!doctype html><html lang="en">text</html>');
  });

  it("does not mistake an object from a stranger's JSON for markup", () => {
    // An element is markup. This object imitates one.
    expect(jsx("p", { children: jsx("script", {}) }).html).toContain("<script>");
    for (const json of ['{"html":"<script>"}', '{"isEscaped":true}', '{"length":1,"0":"<script>"}'])
      expect(() => jsx("p", { children: JSON.parse(json) })).toThrow(TypeError);
  });
});
