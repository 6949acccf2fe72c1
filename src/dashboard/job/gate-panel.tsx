import type { Build } from "../../protocol/build.ts";
import type { JobGate } from "../../protocol/build-job.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Role } from "../../protocol/token.ts";
import type { Context } from "../../services/core/context.ts";
import { refName } from "../parts/build-origin.tsx";
import { CommaList } from "../parts/lists.tsx";
import { RelativeTime } from "../parts/time.tsx";
import { hasRole } from "../shell/page-definition.ts";

const WHO: Record<Role, string> = {
  viewer: "Anyone who can sign in",
  member: "Members, maintainers and admins",
  maintainer: "Maintainers and admins",
  admin: "Admins",
};

interface AnswerProps {
  jobId: string;
  /** The commit that a person reviewed, if the answer is for that commit alone. */
  commitSha?: string | null | undefined;
  /** The comment that a person typed before the service rejected the answer. */
  comment: string;
}

/** Shows both answers as buttons of one form, so that they require no script. */
const Answer = ({ jobId, commitSha, comment }: AnswerProps) => (
  <form method="post" action={`/app/jobs/${jobId}/approve`} class="stack">
    {commitSha && <input type="hidden" name="commitSha" value={commitSha} />}
    <div class="field">
      <label for={`comment-${jobId}`}>Comment</label>
      <textarea id={`comment-${jobId}`} name="comment" rows={2} maxlength={LIMITS.gateCommentCharacters}>
        {`\n${comment}`}
      </textarea>
    </div>
    <span class="actions">
      <button type="submit" class="primary">
        Approve
      </button>
      <button type="submit" class="danger" formaction={`/app/jobs/${jobId}/reject`}>
        Reject
      </button>
    </span>
  </form>
);

const Released = ({ groups }: JobGate) =>
  groups.length === 0 ? null : (
    <p>
      Approving gives it the variables in <CommaList items={groups.map((name) => <bdi>{name}</bdi>)} />.
    </p>
  );

/** Describes what will run after an approval. */
const Content = ({ build, name }: Pick<GatePanelProps, "build" | "name">) => (
  <p>
    Approving runs {name === null ? "the build" : <bdi>{name}</bdi>}
    {build.commitSha && (
      <>
        {" at "}
        <code>{build.commitSha.slice(0, 7)}</code>
      </>
    )}{" "}
    {build.subject && <bdi>{build.subject}</bdi>}
    {build.author && (
      <>
        {" by "}
        <bdi>{build.author}</bdi>
      </>
    )}
    {" on "}
    <bdi>{refName(build)}</bdi>.
  </p>
);

/** Asks a person to review someone else's commit before approving it. */
const Changes = ({ buildId, commitSha }: { buildId: string; commitSha: string }) => (
  <p>
    Review <a href={`/app/builds/${buildId}/changes`}>the changes in {commitSha.slice(0, 7)}</a> first. The answer
    covers only this commit.
  </p>
);

interface GatePanelProps extends Partial<AnswerProps> {
  jobId: string;
  build: Build;
  /** The key of the job that waits; null if the build itself waits. */
  name: string | null;
  gate: JobGate;
  now: Date;
  mayAnswer: boolean;
}

/**
 * Shows a gate that waits for an answer: its message, who may answer it and until when, and a form for people who may.
 */
export const GatePanel = ({ jobId, build, name, gate, now, mayAnswer, commitSha, comment = "" }: GatePanelProps) => (
  <section class="gate" id={`gate-${jobId}`} aria-labelledby={`gate-${jobId}-heading`}>
    <h2 id={`gate-${jobId}-heading`}>{name === null ? "The build" : <bdi>{name}</bdi>} is waiting for approval</h2>
    {gate.message && <p class="gate-message">{gate.message}</p>}
    <Content build={build} name={name} />
    {commitSha && <Changes buildId={build.id} commitSha={commitSha} />}
    <Released {...gate} />
    <p class="hint">
      {WHO[gate.by] ?? gate.by} can approve or reject. The first answer is final.
      {gate.until && (
        <>
          {" "}
          Without an answer, it fails <RelativeTime at={gate.until} now={now} />.
        </>
      )}
    </p>
    {mayAnswer && <Answer jobId={jobId} commitSha={commitSha} comment={comment} />}
  </section>
);

/** Shows a panel for each gate that a build waits for. */
export const Gates = ({ build, context }: { build: Build; context: Context }) =>
  build.waitsFor.map(({ jobId, key, gate }) => (
    <GatePanel
      jobId={jobId}
      build={build}
      name={jobId === build.id ? null : key}
      commitSha={jobId === build.id ? build.commitSha : null}
      gate={gate}
      now={context.now}
      mayAnswer={hasRole(context, gate.by)}
    />
  ));

/** Shows a person's decision and comment, or nothing before the decision. */
export const GateDecisionLine = ({ gate, now }: { gate: JobGate | null; now: Date }) => {
  if (!gate?.decision) return null;
  const { approved, by, at, comment } = gate.decision;
  return (
    <p class="message">
      {approved ? "Approved" : "Rejected"} by <bdi>{by}</bdi> <RelativeTime at={at} now={now} />
      {comment && (
        <>
          : <bdi>{comment}</bdi>
        </>
      )}
    </p>
  );
};
