import MarkdownIt from "markdown-it";

/** Without HTML, and without pictures: a page loads nothing that a build has named. */
const markdown = new MarkdownIt({ html: false, linkify: false }).disable("image");

const defaultLink = markdown.renderer.rules.link_open;
markdown.renderer.rules.link_open = (tokens, index, options, env, self) => {
  tokens[index]?.attrSet("rel", "noopener noreferrer nofollow");
  return defaultLink ? defaultLink(tokens, index, options, env, self) : self.renderToken(tokens, index, options);
};

/** The pages' policy allows no inline style: which way a column leans is a class. */
const leaning: typeof defaultLink = (tokens, index, options, _env, self) => {
  const token = tokens[index];
  const [, side] = String(token?.attrGet("style")).split(":");
  if (token && side) token.attrs = [["class", side]];
  return self.renderToken(tokens, index, options);
};
markdown.renderer.rules.th_open = leaning;
markdown.renderer.rules.td_open = leaning;

/** Markdown as HTML in which whatever looked like markup is text. */
export const toHtml = (text: string): string => markdown.render(text);
