/**
 * Lines that wait for the end of their test. Vitest waits for the answer to each line. A line from the context of an
 * object is sent together with the next message of the test. If there is no next message, an answer never comes.
 */
const waiting: (() => void)[] = [];

for (const level of ["debug", "info", "warn", "error"] as const) {
  const write = console[level];
  console[level] = (...words: unknown[]) => void waiting.push(() => write.apply(console, words));
}
// A line for each request would go to the process of vitest: a tenth of the tests' time.
console.log = () => {};

export const writeLines = (): void => {
  for (const write of waiting.splice(0)) write();
};
