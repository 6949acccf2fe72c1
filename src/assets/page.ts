/** Text as HTML; what stands between backticks is code. */
export const words = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/`([^`]+)`/g, "<code>$1</code>");

/** A whole page. `head` and `body` are HTML. */
export const page = (title: string, body: string, head = ""): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${words(title)} - Millrace</title>
<link rel="icon" href="/docs/static/mark.svg" type="image/svg+xml">
${head}
</head>
<body>
${body}
</body>
</html>
`;
