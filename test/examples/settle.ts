/** What differs from run to run, by how it looks, and what stands for the nth of it in the document. */
const CHANGING: { kind: string; pattern: RegExp; stands(n: number, found: string): string }[] = [
  {
    kind: "id",
    pattern: /\b[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/g,
    stands: (n) => `019a4d20-7c00-7000-8000-${String(n).padStart(12, "0")}`,
  },
  {
    kind: "time",
    pattern: /\b202\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g,
    stands: (n) => new Date(Date.UTC(2026, 10, 2, 9, 0, n)).toISOString(),
  },
  {
    kind: "token",
    pattern: /\bmr[tra]_acme_[A-Za-z0-9]{42}\b/g,
    stands: (n, found) => `${found.slice(0, 9)}${"EXAMPLE".repeat(6).slice(0, 40)}${String(n).padStart(2, "0")}`,
  },
  { kind: "lease", pattern: /\b1[789]\d{11}\b/g, stands: (n) => String(1793610000000 + n) },
  { kind: "origin", pattern: /\bhttp:\/\/127\.0\.0\.1:\d+(?=\/app\/)/g, stands: () => "https://millrace.example" },
  { kind: "seconds", pattern: /(?<="oldestWaitSeconds":)[\d.]+/g, stands: () => "1.5" },
];

/** Gives whatever differs from run to run the same name on every run, in the order in which it shows up. */
export const settle = <T>(value: T): T => {
  let text = JSON.stringify(value);
  for (const { pattern, stands } of CHANGING) {
    const known = new Map<string, string>();
    text = text.replace(pattern, (found) => {
      if (!known.has(found)) known.set(found, stands(known.size + 1, found));
      return known.get(found) ?? "";
    });
  }
  return JSON.parse(text) as T;
};

/** Without what may or may not fall together from run to run: moments, and whether a use is noted already. */
export const blur = <T>(value: T): T => {
  const text = JSON.stringify(value)
    .replace(/\b202\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "a moment")
    .replace(/"lastUsedAt":(?:null|"a moment")/g, '"lastUsedAt":"perhaps"');
  return JSON.parse(text) as T;
};
