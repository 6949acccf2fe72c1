import type { Pipeline } from "../../protocol/pipeline.ts";
import type { Repository } from "../../protocol/repository.ts";
import { RelativeTime } from "../parts/time.tsx";

type Triggers = Pipeline["triggers"];

const SUPERSEDES: Record<Triggers["supersede"], string> = {
  refs: "A newer commit ends older builds of its branch or pull request, but not of the default branch or of tags.",
  all: "A newer commit ends older builds of the same branch, pull request or tag.",
  none: "A newer commit ends no older build.",
};

const Source = ({ pipeline: { triggers, configPath, definition }, now }: { pipeline: Pipeline; now: Date }) => {
  const { source, commitSha, readAt } = triggers;
  if (source === "record") return <>It is decided here, whatever the file says.</>;
  if (definition !== null) return <>As its definition says.</>;
  if (source === "default") {
    return (
      <>
        By default, until <code>on</code> of <code>{configPath}</code> on the default branch says something else.
      </>
    );
  }
  return (
    <>
      As <code>{configPath}</code> on the default branch says
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

/** Shows what builds the pipeline, who decided that, and what prevents the host's notifications. */
export const TriggersPanel = ({ pipeline, repository, canChange, now }: PipelineTriggersProps) => {
  const { triggers } = pipeline;
  return (
    <section class="part">
      <div class="head">
        <h2>What builds it</h2>
        {canChange && (
          <a class="button" href={`/app/pipelines/${pipeline.id}/triggers`}>
            Change
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
          The file has a mistake, so what it said before holds: <bdi>{triggers.mistake}</bdi>
        </p>
      )}
      {repository && repository.connectionId === null && (
        <p class="hint">
          No git host tells of {repository.fullName}, so only requests and schedules build it.{" "}
          {canChange && <a href="/app/connections">Connect its git host</a>}
        </p>
      )}
    </section>
  );
};
