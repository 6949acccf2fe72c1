import type { Reader } from "./readers.ts";

/** Reads masks like an earlier release: it searches for the end of each value in all lines after it. */
export const readSlowly = (content: string): string[] => {
  const lines = content.split("\n");
  return lines.filter((line, at) => lines.indexOf(line.slice(2), at + 1) < 0);
};

/** The same with a loop instead of the native search. */
export const readSlowlyByHand = (content: string): string[] => {
  const lines = content.split("\n");
  return lines.filter((line, at) => {
    let next = at + 1;
    while (next < lines.length && lines[next] !== line.slice(2)) next++;
    return next === lines.length;
  });
};

/** Collects paths like an earlier release: each copies all earlier ones. */
export const copySlowly = (content: string): string[] => {
  let before: string[] = [];
  for (const line of content.split("\n")) before = [...before, line];
  return before;
};

export const SLOW: Reader = {
  file: "test/support/readers/slow-reader.ts",
  readBy: {},
  worst: {
    "a native search": ({ readSlowly }, n) => readSlowly("<<x\n".repeat(n)),
    "a copy": ({ copySlowly }, n) => copySlowly("x\n".repeat(n)),
    "a loop": ({ readSlowlyByHand }, n) => readSlowlyByHand("<<x\n".repeat(n)),
  },
};
