/**
 * Lines that wait for the end of their test. Vitest waits for the answer to each line. A line from the context of an
 * object is sent together with the next message of the test, and where it was the last, no answer ever comes.
 */
const waiting: (() => void)[] = [];

for (const level of ["debug", "info", "warn", "error"] as const) {
  const write = console[level];
  console[level] = (...words: unknown[]) => void waiting.push(() => write.apply(console, words));
}
// A line of each request would go to the process of vitest: a tenth of what the tests take.
console.log = () => {};

export const writeLines = (): void => {
  for (const write of waiting.splice(0)) write();
};
