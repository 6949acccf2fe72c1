/*
 * What `<p>text</p>` in a `.tsx` file means: the compiler makes calls of `jsx` of it, which it finds by `jsxImportSource`
 * of tsconfig.json and `exports` of package.json. Each call makes the markup of its element at once, from the markup of
 * its children, so that a page is texts joined once, without a tree in between.
 *
 * A text becomes markup in this file alone, and is escaped on its way. Nothing else makes a `Markup`: an object that a
 * stranger's JSON describes is none.
 */

/** What an element may contain. Null, undefined and truth values show nothing, so that a condition may stand there. */
export type Child = Markup | string | number | boolean | null | undefined | readonly Child[];

type Attribute = string | number | boolean | null | undefined;
type Properties = { children?: Child; [attribute: string]: Child | Attribute };
type Component = (properties: never) => Child;

/** A piece of HTML. Its texts are escaped. */
class Markup {
  readonly html: string;
  constructor(html: string) {
    this.html = html;
  }
}

const SPECIAL = /[&<>'"]/;

const escapeText = (text: string): string =>
  SPECIAL.test(text)
    ? text
        .replaceAll("&", "&amp;")
        .replaceAll("<", "&lt;")
        .replaceAll(">", "&gt;")
        .replaceAll("'", "&#39;")
        .replaceAll('"', "&quot;")
    : text;

const toHtml = (child: Child): string => {
  if (typeof child === "string") return escapeText(child);
  if (child instanceof Markup) return child.html;
  if (typeof child === "number") return String(child);
  if (child === null || child === undefined || typeof child === "boolean") return "";
  let html = "";
  for (const one of child) html += toHtml(one);
  return html;
};

/** Elements without children or an end tag, and attributes that are there or not: of both, those that pages use. */
const VOID = new Set(["br", "hr", "img", "input", "link", "meta"]);
const BOOLEAN = new Set([
  "autofocus",
  "checked",
  "disabled",
  "download",
  "hidden",
  "open",
  "readonly",
  "required",
  "selected",
]);

const toAttribute = (name: string, value: Attribute): string => {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean" && BOOLEAN.has(name)) return value ? ` ${name}=""` : "";
  return ` ${name}="${typeof value === "string" ? escapeText(value) : value}"`;
};

const toElement = (tag: string, properties: Properties): string => {
  let html = tag === "html" ? `<!doctype html><${tag}` : `<${tag}`;
  for (const name in properties) if (name !== "children") html += toAttribute(name, properties[name] as Attribute);
  return VOID.has(tag) ? `${html}/>` : `${html}>${toHtml(properties.children)}</${tag}>`;
};

export const jsx = (tag: string | Component, properties: Properties): Markup => {
  if (typeof tag === "string") return new Markup(toElement(tag, properties));
  const shown = tag(properties as never);
  return shown instanceof Markup ? shown : new Markup(toHtml(shown));
};

/** What is in `<>` and `</>`. */
export const Fragment = ({ children }: { children?: Child }): Child => children;

/* The compiler calls `jsx` by these names for an element of several children, and where it compiles for tests. */
export { jsx as jsxDEV, jsx as jsxs };

/** What the compiler asks for of the types. */
export declare namespace JSX {
  type Element = Markup;
  type ElementType = string | Component;
  interface ElementChildrenAttribute {
    children: Child;
  }
  interface IntrinsicElements {
    [tag: string]: Properties;
  }
}
