/** Escapes text for HTML. Text between backticks becomes `<code>`. */
export const inlineHtml = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/`([^`]+)`/g, "<code>$1</code>");

/** A complete document. `head` and `body` are HTML, `title` is text. */
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
