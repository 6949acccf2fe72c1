import MarkdownIt from "markdown-it";

/** The renderer. HTML and images are off, because a page must not load anything that a build names. */
const markdown = new MarkdownIt({ html: false, linkify: false }).disable("image");

const defaultLink = markdown.renderer.rules.link_open;
markdown.renderer.rules.link_open = (tokens, index, options, env, self) => {
  tokens[index]?.attrSet("rel", "noopener noreferrer nofollow");
  return defaultLink ? defaultLink(tokens, index, options, env, self) : self.renderToken(tokens, index, options);
};

/** Converts a column's alignment to a class, because the pages' policy forbids inline styles. */
const alignedCell: typeof defaultLink = (tokens, index, options, _env, self) => {
  const token = tokens[index];
  const [, side] = String(token?.attrGet("style")).split(":");
  if (token && side) token.attrs = [["class", side]];
  return self.renderToken(tokens, index, options);
};
markdown.renderer.rules.th_open = alignedCell;
markdown.renderer.rules.td_open = alignedCell;

/** Renders Markdown. Escapes any markup in the text. */
export const toHtml = (text: string): string => markdown.render(text);
