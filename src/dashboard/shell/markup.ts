/*
 * Defines what `<p>text</p>` in a `.tsx` file means. The compiler converts it to calls of `jsx`, which it finds through
 * `jsxImportSource` in tsconfig.json and `exports` in package.json. Each call creates its element's markup immediately
 * from its children's markup. A page is therefore joined from texts once, without an intermediate tree.
 *
 * Text becomes markup only in this file, which escapes the text. No other code creates a `Markup`. An object in JSON
 * that a stranger sent is therefore never a `Markup`.
 */

/** The possible content of an element. Null, undefined and booleans show nothing, so that a condition is allowed. */
export type Child = Markup | string | number | boolean | null | undefined | readonly Child[];

type Attribute = string | number | boolean | null | undefined;
type Properties = { children?: Child; [attribute: string]: Child | Attribute };
type Component = (properties: never) => Child;

/** A piece of HTML, whose texts are escaped. */
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

/**
 * Elements without children or an end tag. `BOOLEAN` lists attributes that are either present or absent. Both lists
 * contain only names that pages use.
 */
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

/** The content of `<>` and `</>`. */
export const Fragment = ({ children }: { children?: Child }): Child => children;

/* The compiler calls `jsx` by these names: for an element with several children, and when it compiles for tests. */
export { jsx as jsxDEV, jsx as jsxs };

/** The types that the compiler requires. */
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
