/** Values that differ from run to run, each with the replacement for the nth of its kind. */
const CHANGING: { kind: string; pattern: RegExp; replacement(n: number, found: string): string }[] = [
  {
    kind: "id",
    pattern: /\b[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/g,
    replacement: (n) => `019a4d20-7c00-7000-8000-${String(n).padStart(12, "0")}`,
  },
  {
    kind: "time",
    pattern: /\b202\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g,
    replacement: (n) => new Date(Date.UTC(2026, 10, 2, 9, 0, n)).toISOString(),
  },
  { kind: "day", pattern: /(?<="lastUsed":")202\d-\d\d-\d\d(?=")/g, replacement: () => "2026-11-02" },
  {
    kind: "token",
    pattern: /\bmr[tra]_acme_[A-Za-z0-9]{42}\b/g,
    replacement: (n, found) => `${found.slice(0, 9)}${"EXAMPLE".repeat(6).slice(0, 40)}${String(n).padStart(2, "0")}`,
  },
  {
    kind: "hook",
    pattern: /\bmrh_acme_(\w+)\.([0-9a-f-]{36})\.(\d+)_[A-Za-z0-9]{12}\b/g,
    replacement: (n, found) => `${found.slice(0, -12)}EXAMPLEHOOK${n % 10}`,
  },
  {
    kind: "badge",
    pattern: /\bmrb_acme_[0-9a-f-]{36}\.\d+_[A-Za-z0-9]{12}\b/g,
    replacement: (n) => `mrb_acme_019a4d20-7c00-7000-8000-000000000000.1_EXAMPLEBADG${n % 10}`,
  },
  {
    kind: "grant",
    pattern: /\bmrx_[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/g,
    replacement: (n) => `mrx_EXAMPLE${n}.${"EXAMPLE".repeat(7).slice(0, 43)}`,
  },
  {
    kind: "scope of a cache",
    pattern: /(?<="(?:scope|saves|id)":")[0-9a-f]{64}(?=")/g,
    replacement: (n) => `${"5c09e".repeat(13).slice(0, 63)}${n % 10}`,
  },
  { kind: "etag", pattern: /(?<="etags?":\[?")[0-9a-f]{32}(?=")/g, replacement: () => "e".repeat(32) },
  {
    kind: "hook's secret",
    pattern: /(?<="secret":")[A-Za-z0-9]{32}(?=")/g,
    replacement: (n) => `example-secret-of-a-hook-${String(n).padStart(7, "0")}`,
  },
  { kind: "lease", pattern: /\b1[789]\d{11}\b/g, replacement: (n) => String(1793610000000 + n) },
  {
    kind: "origin",
    pattern: /\bhttp:\/\/127\.0\.0\.1:\d+(?=\/(?:app|badge|hook|share)\/)/g,
    replacement: () => "https://millrace.example",
  },
  { kind: "seconds", pattern: /(?<="oldestWaitSeconds":)[\d.]+/g, replacement: () => "1.5" },
];

/** Replaces the values that differ from run to run, numbered in order of appearance. */
export const stabilize = <T>(value: T): T => {
  let text = JSON.stringify(value);
  for (const { pattern, replacement } of CHANGING) {
    const known = new Map<string, string>();
    text = text.replace(pattern, (found) => {
      if (!known.has(found)) known.set(found, replacement(known.size + 1, found));
      return known.get(found) ?? "";
    });
  }
  return JSON.parse(text) as T;
};

/** Removes times, which may be equal by chance, and the field that shows whether a use is already recorded. */
export const withoutTimes = <T>(value: T): T => {
  const text = JSON.stringify(value)
    .replace(/\b202\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "a moment")
    .replace(/"lastUsedAt":(?:null|"a moment")/g, '"lastUsedAt":"perhaps"');
  return JSON.parse(text) as T;
};
