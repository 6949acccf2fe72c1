/**
 * Creates a value once for each key, for as long as the isolate and the key live. Keeps no failure. Keeps no pending
 * promise either, because one request of a Worker must not wait for the I/O of another: simultaneous calls each create
 * the value.
 */
export const oncePer = <V>() => {
  const byObject = new WeakMap<object, V>();
  const byText = new Map<string, V>();
  return <T extends V | Promise<V>>(key: object | string, make: () => T): V | T => {
    const known = typeof key === "string" ? byText.get(key) : byObject.get(key);
    if (known !== undefined) return known;
    const keep = (value: V) => {
      if (typeof key === "string") byText.set(key, value);
      else byObject.set(key, value);
      return value;
    };
    const made = make();
    return made instanceof Promise ? (made.then(keep) as T) : keep(made as V);
  };
};
