/** Calls `see` for every `$ref` in a JSON value. */
const eachReference = (value: unknown, see: (reference: string) => void): void => {
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (name === "$ref" && typeof inner === "string") see(inner);
    else eachReference(inner, see);
  }
};

/** Every reference that `root` contains, directly or through the values that `resolve` returns. */
export const reach = (root: unknown, resolve: (reference: string) => unknown): Set<string> => {
  const reached = new Set<string>();
  const see = (reference: string): void => {
    if (reached.has(reference)) return;
    reached.add(reference);
    eachReference(resolve(reference), see);
  };
  eachReference(root, see);
  return reached;
};

/** The same JSON value with its references renamed. */
export const renameReferences = <T>(value: T, rename: (reference: string) => string): T => {
  const json = JSON.stringify(value, (name, inner) => (name === "$ref" ? rename(inner) : inner));
  return JSON.parse(json) as T;
};
