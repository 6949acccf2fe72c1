/** Returns the forms of a value after a program escapes it. Values are binary strings with one character per byte. */
type Escape = (value: string) => string[];

const byteHex = (char: string): string => char.charCodeAt(0).toString(16).padStart(2, "0");

const unicode = (binary: string): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      Uint8Array.from(binary, (char) => char.charCodeAt(0)),
    );
  } catch {
    return binary;
  }
};

const codeUnit = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

/**
 * The escapes of RFC 3986 with digits in both cases, the looser sets of JavaScript and Python, and HTML forms with `+`
 * for a space.
 */
const percent: Escape = (value) => {
  const encode = (unsafe: RegExp) => value.replace(unsafe, (char) => `%${byteHex(char).toUpperCase()}`);
  const strict = encode(/[^A-Za-z0-9\-._~]/g);
  return [
    strict,
    strict.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    encode(/[^A-Za-z0-9\-._~!*'()]/g),
    encode(/[^A-Za-z0-9\-._~/]/g),
    encode(/[^A-Za-z0-9\-._~!*'();,/?:@&=+$#]/g),
    strict.replaceAll("%20", "+"),
    encode(/[^A-Za-z0-9\-._*]/g).replaceAll("%20", "+"),
  ];
};

const SHORT: Record<string, string> = { "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * The output of JSON.stringify, also when applied twice, and the output of Go (safe for HTML), Python (ASCII only) and
 * PHP (slashes).
 */
const json: Escape = (value) => {
  const plain = value.replace(/["\\]/g, "\\$&").replace(/[\x00-\x1f]/g, (char) => SHORT[char] ?? codeUnit(char));
  const ascii = unicode(plain).replace(/[^\x00-\x7f]/g, codeUnit);
  const inJson = plain.replace(/["\\]/g, "\\$&");
  const slashed = [plain.replaceAll("/", "\\/"), ascii.replaceAll("/", "\\/")];
  return [plain, plain.replace(/[<>&]/g, codeUnit), ascii, ...slashed, inJson];
};

const xml: Escape = (value) => {
  const text = value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const attribute = text.replaceAll('"', "&quot;");
  return [text, attribute, ...["&#39;", "&apos;", "&#x27;"].map((quote) => attribute.replaceAll("'", quote))];
};

/**
 * The form `$'...'`. Bash prints it for values with control characters, and in the C locale also for non-ASCII values.
 */
const ansiC: Escape = (value) => {
  const octal = (char: string) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`;
  const plain = value
    .replace(/['\\]/g, "\\$&")
    .replaceAll("\x1b", "\\E")
    .replace(/[\x00-\x1f\x7f]/g, (char) => SHORT[char] ?? octal(char));
  return [plain, plain.replace(/[\x80-\xff]/g, octal)];
};

/**
 * The quotes of bash (`set -x`, `@Q`, `%q`, `export -p`), dash and Python's shlex, and the doubling of make, SQL and
 * CSV.
 */
const shell: Escape = (value) => [
  value.replaceAll("'", "'\\''"),
  value.replaceAll("'", `'"'"'`),
  value.replace(/'+/g, (quotes) => `'"${quotes}"'`).replace(/^'|'$/g, ""),
  value.replace(/[ !"$&'()*,;<>?[\]^`{|}\\]/g, "\\$&").replace(/^[#~]/, "\\$&"),
  value.replace(/["\\$`]/g, "\\$&"),
  value.replaceAll("$", "$$$$"),
  value.replaceAll("'", "''"),
  value.replaceAll('"', '""'),
  value.replaceAll("\\", "\\\\"),
];

/** Words that bash prints in quotes under `set -x` (`sh_contains_shell_metas` in its source). */
const METACHARACTERS = /['"\\|&;()<>!{}*[\]?^$`]|^[~#]/;

const traceWord = (word: string): string => (METACHARACTERS.test(word) ? `'${word.replaceAll("'", "'\\''")}'` : word);

/** Returns the words of `echo $VALUE` without quotes, and the same words in the output of `set -x`. */
const unquotedWords: Escape = (value) => {
  const words = value.split(/[ \t\r\n]+/).filter(Boolean);
  return words.length < 2 && words[0] === value ? [] : [words.join(" "), words.map(traceWord).join(" ")];
};

export const ESCAPES: Escape[] = [percent, json, xml, ansiC, shell, unquotedWords];
