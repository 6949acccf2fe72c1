import type { Pipeline } from "../../protocol/pipeline.ts";
import type { Repository } from "../../protocol/repository.ts";
import { RelativeTime } from "../parts/time.tsx";

type Triggers = Pipeline["triggers"];

const SUPERSEDES: Record<Triggers["supersede"], string> = {
  refs: "Newer commits cancel older builds of the same branch or pull request, except on the default branch and tags.",
  all: "Newer commits cancel older builds of the same branch, pull request or tag.",
  none: "Newer commits do not cancel older builds.",
};

const Source = ({ pipeline: { triggers, configPath, definition }, now }: { pipeline: Pipeline; now: Date }) => {
  const { source, commitSha, readAt } = triggers;
  if (source === "record") return <>Configured here. This overrides the file.</>;
  if (definition !== null) return <>From its definition.</>;
  if (source === "default") {
    return (
      <>
        Defaults, until <code>on</code> in <code>{configPath}</code> on the default branch overrides them.
      </>
    );
  }
  return (
    <>
      From <code>{configPath}</code> on the default branch
      {commitSha && (
        <>
          , at <code title={commitSha}>{commitSha.slice(0, 7)}</code>
        </>
      )}
      {readAt && (
        <>
          , read <RelativeTime at={readAt} now={now} />
        </>
      )}
      .
    </>
  );
};

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

interface PipelineTriggersProps {
  pipeline: Pipeline;
  repository: Repository | undefined;
  canChange: boolean;
  now: Date;
}

/** Shows the pipeline's triggers, the person or file that decided them, and what prevents the host's notifications. */
export const TriggersPanel = ({ pipeline, repository, canChange, now }: PipelineTriggersProps) => {
  const { triggers } = pipeline;
  return (
    <section class="part">
      <div class="head">
        <h2>Triggers</h2>
        {canChange && (
          <a class="button" href={`/app/pipelines/${pipeline.id}/triggers`}>
            Edit
          </a>
        )}
      </div>
      <p class="builds">{capitalized(triggers.builds)}.</p>
      <p class="hint">
        <Source pipeline={pipeline} now={now} />
      </p>
      <p class="hint">{SUPERSEDES[triggers.supersede]}</p>
      {triggers.mistake && (
        <p class="problem">
          The file has a mistake, so its previous triggers still apply: <bdi>{triggers.mistake}</bdi>
        </p>
      )}
      {repository && repository.connectionId === null && (
        <p class="hint">
          {repository.fullName} is not connected to a git host: only manual runs, the API and schedules start builds.{" "}
          {canChange && <a href="/app/connections">Connect its git host</a>}
        </p>
      )}
    </section>
  );
};
