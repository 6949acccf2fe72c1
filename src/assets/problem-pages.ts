import { REMEDIES } from "../api/description/remedies.ts";
import { PROBLEMS, type ProblemKind } from "../protocol/problem.ts";

/** Escapes text for HTML. Text between backticks becomes `<code>`. */
const inlineHtml = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/`([^`]+)`/g, "<code>$1</code>");

/** Returns a complete document. `head` and `body` are HTML, `title` is text. */
export const htmlPage = (title: string, body: string, head = ""): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${inlineHtml(title)} - Millrace</title>
<link rel="icon" href="/docs/static/mark.svg" type="image/svg+xml">
${head}
</head>
<body>
${body}
</body>
</html>
`;

const KINDS = Object.keys(PROBLEMS) as ProblemKind[];
const STYLE = '<link rel="stylesheet" href="/docs/static/problems.css">';

const problemPage = (kind: ProblemKind): string => {
  const [status, title] = PROBLEMS[kind];
  const { meaning, remedy } = REMEDIES[kind];
  const steps = remedy.map((step) => `<li>${inlineHtml(step)}</li>`).join("\n");
  return htmlPage(
    title,
    `<main>
<p class="kind">${status} <code>${kind}</code></p>
<h1>${inlineHtml(title)}</h1>
<p>${inlineHtml(meaning)}</p>
<h2>What to do</h2>
<ul>
${steps}
</ul>
<p><a href="/problems/">All problems</a> <a href="/docs">API reference</a></p>
</main>`,
    STYLE,
  );
};

const index = (): string => {
  const rows = KINDS.map((kind) => {
    const [status, title] = PROBLEMS[kind];
    return `<tr><td>${status}</td><td><a href="/problems/${kind}"><code>${kind}</code></a></td><td>${inlineHtml(title)}</td></tr>`;
  });
  return htmlPage(
    "Problems",
    `<main>
<h1>Problems</h1>
<p>Every problem has one of these types.</p>
<table>
<thead><tr><th>Status</th><th>Type</th><th>Title</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>
<p><a href="/docs">API reference</a></p>
</main>`,
    STYLE,
  );
};

/** Returns the pages for the `type` addresses of problems, by path. */
export const problemPages = (): Record<string, string> => ({
  "problems/index.html": index(),
  ...Object.fromEntries(KINDS.map((kind) => [`problems/${kind}.html`, problemPage(kind)])),
});
