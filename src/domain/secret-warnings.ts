const COMMON = new Set([
  "true",
  "false",
  "null",
  "none",
  "yes",
  "no",
  "test",
  "admin",
  "root",
  "password",
  "secret",
  "main",
  "production",
  "staging",
  "development",
  "localhost",
]);

type SecretWarning = "short" | "mask-text" | "common-word" | "json";

/** A program takes single values out of such a secret, and a mask knows only the whole and its lines. */
const isJson = (value: string): boolean => {
  if (!/^\s*[[{]/.test(value)) return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
};

/** Warnings about a secret whose mask would hide other text in logs, reveal the secret, or miss parts of it. */
export const secretWarnings = (value: string): SecretWarning[] => [
  ...(value.length < 4 ? (["short"] as const) : []),
  ...(/^\*+$/.test(value) ? (["mask-text"] as const) : []),
  ...(COMMON.has(value.toLowerCase()) ? (["common-word"] as const) : []),
  ...(isJson(value) ? (["json"] as const) : []),
];
