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

export type SecretWarning = "short" | "mask-text" | "common-word";

/** Warnings about a secret whose mask would hide other text in logs, or reveal the secret. */
export const secretWarnings = (value: string): SecretWarning[] => [
  ...(value.length < 4 ? (["short"] as const) : []),
  ...(/^\*+$/.test(value) ? (["mask-text"] as const) : []),
  ...(COMMON.has(value.toLowerCase()) ? (["common-word"] as const) : []),
];
