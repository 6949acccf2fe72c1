import type { JobCause, JobEnd } from "../../pipeline/graph/job-end.ts";

/** Writes a line of the run itself, between the output of its steps. */
export const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const CAUSES: Record<JobCause["kind"], (cause: JobCause) => string> = {
  condition: ({ text }) => `its condition does not hold: ${text}`,
  "need-skipped": ({ job }) => `${job} was skipped`,
  "need-failed": ({ job }) => `${job} failed`,
  "need-canceled": ({ job }) => `${job} was canceled`,
  "fail-fast": ({ job }) => `${job} failed, and fail-fast ends the others`,
  canceled: () => "the run was stopped",
  gate: () => "its gate was not opened",
};

/** How a job ended, and why where it did not run: `deploy dropped: test failed`. */
export const endInWords = (
  key: string,
  { status, cause, message }: Pick<JobEnd, "status" | "cause" | "message">,
): string => {
  const why = cause ? CAUSES[cause.kind](cause) : message;
  return `${key} ${status}${why === null || status === "succeeded" ? "" : `: ${why}`}`;
};
