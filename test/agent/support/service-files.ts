type Section = Record<string, string>;

/** Parses a unit file into sections of settings. */
export const parseUnit = (text: string): Record<string, Section> => {
  const sections: Record<string, Section> = {};
  let current: Section = {};
  for (const line of text.split("\n")) {
    const [, name] = /^\[(\w+)\]$/.exec(line) ?? [];
    if (name) sections[name] = current = {};
    else if (line) current[line.slice(0, line.indexOf("="))] = line.slice(line.indexOf("=") + 1);
  }
  return sections;
};

/** Splits a unit file's command into words, as systemd passes them to the program. */
export const wordsOf = (command = ""): string[] =>
  [...command.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = ""]) =>
    word.replace(/\\(.)/g, "$1").replaceAll("%%", "%").replaceAll("$$", "$"),
  );

const unescaped = (text: string): string =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

/** Parses a property list into plain values. */
export const parsePlist = (text: string): unknown => {
  const tags = [...text.slice(text.indexOf("<plist")).matchAll(/<(\/?)(\w+)[^>]*?(\/?)>([^<]*)/g)];
  let at = 1;
  const value = (): unknown => {
    const [, , tag = "", empty, content = ""] = tags[at++] ?? [];
    if (tag === "true" || tag === "false") return tag === "true";
    if (tag === "dict" || tag === "array") {
      const items: unknown[] = [];
      while (!empty && !(tags[at]?.[1] && tags[at]?.[2] === tag)) items.push(value());
      at++;
      const pairs = items.flatMap((key, index) => (index % 2 === 0 ? [[String(key), items[index + 1]]] : []));
      return tag === "array" ? items : Object.fromEntries(pairs);
    }
    if (!tags[at]?.[1] || tags[at]?.[2] !== tag) throw new Error(`<${tag}> is not closed`);
    at++;
    return tag === "integer" ? Number(content) : unescaped(content);
  };
  const parsed = value();
  if (tags[at]?.[0].trim() !== "</plist>") throw new Error("not one value in a plist");
  return parsed;
};
