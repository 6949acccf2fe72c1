import { HtmlValidate } from "html-validate";

/** The recommended rules but for those of style. A list may have a name, an id a slash, and a form may send a field several times. */
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

/** What is wrong with a page as it was served. */
export const htmlProblems = (source: string): string[] =>
  RULES.validateStringSync(source).results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, selector }) => `${ruleId}: ${message} (${selector})`),
  );
