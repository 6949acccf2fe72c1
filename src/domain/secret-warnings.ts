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

/** Why masking this secret will cover more, or tell more, than its owner may think. */
export const secretWarnings = (value: string): SecretWarning[] => [
  ...(value.length < 4 ? (["short"] as const) : []),
  ...(/^\*+$/.test(value) ? (["mask-text"] as const) : []),
  ...(COMMON.has(value.toLowerCase()) ? (["common-word"] as const) : []),
];
