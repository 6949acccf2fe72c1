import { HtmlValidate } from "html-validate";

/**
 * The recommended rules, except those for style. A list may have a name, an id may have a slash, and a form may send a
 * field several times.
 */
const RULES = new HtmlValidate({
  root: true,
  extends: ["html-validate:recommended"],
  rules: {
    "aria-label-misuse": ["error", { allowAnyNamable: true }],
    "attribute-boolean-style": "off",
    "attribute-empty-style": "off",
    "doctype-style": "off",
    "form-dup-name": "off",
    "long-title": "off",
    "no-trailing-whitespace": "off",
    "valid-id": ["error", { relaxed: true }],
    "void-style": "off",
  },
});

/** Returns the problems in a page's served source. */
export const htmlProblems = (source: string): string[] =>
  RULES.validateStringSync(source).results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, selector }) => `${ruleId}: ${message} (${selector})`),
  );
