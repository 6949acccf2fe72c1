import type { JobOfBuild } from "../../protocol/build-job.ts";
import { whyEnded } from "../parts/state.tsx";
import type { Child } from "../shell/markup.ts";

type JobCause = NonNullable<JobOfBuild["cause"]>;

/** Shows a job's key. Each text from a file is in its own element, which isolates its direction. */
const Key = ({ job }: JobCause) => (job === null ? "a required job" : <bdi>{job}</bdi>);

const Condition = ({ text }: JobCause) =>
  text === null ? (
    "condition was false"
  ) : (
    <>
      condition <code>{text}</code> was false
    </>
  );

const SENTENCES: Record<JobCause["kind"], (cause: JobCause) => Child> = {
  condition: (cause) => <Condition {...cause} />,
  "need-skipped": (cause) => (
    <>
      <Key {...cause} /> was skipped
      {cause.text !== null && (
        <>
          : <Condition {...cause} />
        </>
      )}
    </>
  ),
  "need-failed": (cause) => (
    <>
      <Key {...cause} /> failed
    </>
  ),
  "need-canceled": (cause) => (
    <>
      <Key {...cause} /> was canceled
    </>
  ),
  "fail-fast": (cause) => (
    <>
      fail-fast: <Key {...cause} /> failed
    </>
  ),
  canceled: ({ text }) => (text === null ? "stopped early" : <bdi>{text}</bdi>),
  gate: () => "not approved",
};

/** Says who closed the gate, or that nobody answered it. */
const ClosedGate = ({ gate }: JobOfBuild) => {
  const { decision = null } = gate ?? {};
  if (!decision) return "not approved in time";
  return (
    <>
      rejected by <bdi>{decision.by}</bdi>
      {decision.comment && (
        <>
          : <bdi>{decision.comment}</bdi>
        </>
      )}
    </>
  );
};

/** Explains why a job did not run, was stopped or failed. Returns null if its state says everything. */
export const explainEnd = (job: JobOfBuild): Child => {
  const { status, reason, cause } = job;
  if (reason === "gate-closed") return <ClosedGate {...job} />;
  if (status === "failed" || !cause) return whyEnded(job);
  return SENTENCES[cause.kind](cause);
};
