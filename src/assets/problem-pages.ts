import { REMEDIES } from "../api/description/remedies.ts";
import { PROBLEMS, type ProblemKind } from "../protocol/problem.ts";
import { page, words } from "./page.ts";

const KINDS = Object.keys(PROBLEMS) as ProblemKind[];
const STYLE = '<link rel="stylesheet" href="/docs/static/problems.css">';

const problemPage = (kind: ProblemKind): string => {
  const [status, title] = PROBLEMS[kind];
  const { meaning, remedy } = REMEDIES[kind];
  const steps = remedy.map((step) => `<li>${words(step)}</li>`).join("\n");
  return page(
    title,
    `<main>
<p class="kind">${status} <code>${kind}</code></p>
<h1>${words(title)}</h1>
<p>${words(meaning)}</p>
<h2>What to do</h2>
<ul>
${steps}
</ul>
<p><a href="/problems/">All problems</a> <a href="/docs">The API</a></p>
</main>`,
    STYLE,
  );
};

const index = (): string => {
  const rows = KINDS.map((kind) => {
    const [status, title] = PROBLEMS[kind];
    return `<tr><td>${status}</td><td><a href="/problems/${kind}"><code>${kind}</code></a></td><td>${words(title)}</td></tr>`;
  });
  return page(
    "Problems",
    `<main>
<h1>Problems</h1>
<p>Every refusal names one of these in its field <code>type</code>. The list is closed.</p>
<table>
<thead><tr><th>Status</th><th>Type</th><th>Title</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>
<p><a href="/docs">The API</a></p>
</main>`,
    STYLE,
  );
};

/** The pages behind the types of problems, by path. */
export const problemPages = (): Record<string, string> => ({
  "problems/index.html": index(),
  ...Object.fromEntries(KINDS.map((kind) => [`problems/${kind}.html`, problemPage(kind)])),
});
