import MarkdownIt from "markdown-it";

/** Without HTML, and without pictures: a page loads nothing that a build has named. */
const markdown = new MarkdownIt({ html: false, linkify: false }).disable("image");

const defaultLink = markdown.renderer.rules.link_open;
markdown.renderer.rules.link_open = (tokens, index, options, env, self) => {
  tokens[index]?.attrSet("rel", "noopener noreferrer nofollow");
  return defaultLink ? defaultLink(tokens, index, options, env, self) : self.renderToken(tokens, index, options);
};

/** Markdown as HTML in which whatever looked like markup is text. */
export const toHtml = (text: string): string => markdown.render(text);
