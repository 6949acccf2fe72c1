import type { Comparison } from "../../services/comparison.ts";

/** Lines that stay around each difference. */
const AROUND = 3;

type Lines = NonNullable<Comparison["log"]>["lines"];

const SIGNS = { same: " ", added: "+", removed: "−" } as const;
const WORDS = { same: "", added: "only here: ", removed: "only in the last green: " } as const;

/** Parts of equal lines far from any difference are left out; a number stands for them. */
const shortened = (lines: Lines): (Lines[number] | number)[] => {
  const isNear = (at: number) =>
    lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ kind }) => kind !== "same");
  const shown: (Lines[number] | number)[] = [];
  for (const [at, line] of lines.entries()) {
    const last = shown.at(-1);
    if (line.kind !== "same" || isNear(at)) shown.push(line);
    else if (typeof last === "number") shown[shown.length - 1] = last + 1;
    else shown.push(1);
  }
  return shown;
};

/** The log of a step against that of the last green build: times and numbers do not count. */
export const LogDifference = ({ lines }: { lines: Lines }) => (
  <section class="difference" tabindex={0} aria-label="Differences of the log">
    <pre>
      {shortened(lines).map((line) =>
        typeof line === "number" ? (
          <span class="left-out">{`… ${line.toLocaleString("en")} equal ${line === 1 ? "line" : "lines"}`}</span>
        ) : (
          <span class={`is-${line.kind}`}>
            <span aria-hidden="true">{SIGNS[line.kind]} </span>
            <span class="sr">{WORDS[line.kind]}</span>
            <bdi>{line.text}</bdi>
          </span>
        ),
      )}
    </pre>
  </section>
);
