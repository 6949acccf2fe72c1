/** Finds a page's elements and attributes that only foreign text can have created. */
export const madeByText = async (markup: string): Promise<string[]> => {
  const found: string[] = [];
  const response = new HTMLRewriter()
    .on("*", {
      element({ tagName, attributes }) {
        const named = [...attributes].map(([name = "", value = ""]) => [name, value] as const);
        const own = named.some(([name, value]) => name === "src" && /^\/app\/static\/[\w.-]+$/.test(value));
        if (/^(iframe|object|embed|base|style|template|noscript|math)$/.test(tagName)) found.push(tagName);
        if (/^(script|img)$/.test(tagName) && !own) found.push(tagName);
        for (const [name, value] of named)
          if (/^(on|srcdoc|style$)/.test(name) || /^(\s*javascript:|\/\/|data:text)/i.test(value)) {
            if (!/^(value|title|data-copy|aria-label|placeholder)$/.test(name)) found.push(`${tagName} ${name}`);
          }
      },
    })
    .transform(new Response(markup));
  await response.text();
  return found;
};
