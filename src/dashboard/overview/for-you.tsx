import type { Build } from "../../protocol/build.ts";
import type { WaitsFor } from "../../protocol/build-job.ts";
import type { PipelineHistory } from "../../protocol/pipeline-history.ts";
import type { ForYou } from "../../services/builds/build-list.ts";
import type { Context } from "../../services/core/context.ts";
import { refName } from "../parts/build-origin.tsx";
import { count } from "../parts/format.ts";
import { StateIcon, whyEnded, wordOf } from "../parts/state.tsx";
import { Elapsed, RelativeTime } from "../parts/time.tsx";
import type { Child } from "../shell/markup.ts";
import { hasRole } from "../shell/page-definition.ts";

const SHOWN = 5;

/** The names of repositories and pipelines, by id. */
export type NamesById = Map<string, string>;

/** Shows `shop / ci`: the repository without its owner, then the pipeline. */
const PipelineName = ({
  build: { repoId, pipelineId },
  names,
}: {
  build: Pick<Build, "repoId" | "pipelineId">;
  names: NamesById;
}) => {
  const repository = names.get(repoId);
  const pipeline = pipelineId === null ? undefined : names.get(pipelineId);
  return (
    <>
      {repository && <bdi>{repository.slice(repository.indexOf("/") + 1)}</bdi>}
      {pipeline && (
        <>
          {" / "}
          <bdi>{pipeline}</bdi>
        </>
      )}
    </>
  );
};

interface ItemProps {
  id: string;
  buildId: string;
  number: number;
  state: Build["status"] | "asking";
  /** The main words of the row. Its children follow them. */
  loud: string;
  children?: Child;
  actions?: Child;
}

const Item = ({ id, buildId, number, state, loud, children, actions }: ItemProps) => (
  <li id={id} class="row for-you-row" data-row>
    <StateIcon state={state} />
    <p>
      <a href={`/app/builds/${buildId}`} class="what">
        <span class="sr">{wordOf(state)} </span>
        <bdi>{loud}</bdi>
      </a>{" "}
      <span class="hint">{children}</span>
    </p>
    {actions ?? <span class="quiet-number">#{number}</span>}
  </li>
);

/** Links to the gate on its build's page. A person there sees what will run before giving the answer. */
const Review = ({ build, asks }: { build: Build; asks: WaitsFor }) => (
  <span class="decision">
    <a class="button primary" href={`/app/builds/${build.id}#gate-${asks.jobId}`}>
      Review
      <span class="sr">
        {" "}
        {!build.approval && (
          <>
            <bdi>{asks.key}</bdi> in{" "}
          </>
        )}
        #{build.number}
      </span>
    </a>
  </span>
);

interface ForYouProps {
  context: Context;
  forYou: ForYou;
  red: PipelineHistory[];
  names: NamesById;
}

const Gate = ({ build, asks, names, now }: { build: Build; asks: WaitsFor; names: NamesById; now: Date }) => (
  <Item
    id={`gate-${asks.jobId}`}
    buildId={build.id}
    number={build.number}
    state="asking"
    loud={(build.approval ? build.subject : asks.gate.message) ?? asks.gate.message ?? asks.key}
    actions={<Review build={build} asks={asks} />}
  >
    <PipelineName build={build} names={names} /> #{build.number}
    {build.approval && " from an outside contributor"} needs your approval
    {asks.gate.since && (
      <>
        {", requested "}
        <RelativeTime at={asks.gate.since} now={now} />
      </>
    )}
  </Item>
);

/** Returns the first failed build and the newest build of a red default branch; null if the branch is not red. */
const findRed = ({ builds, failingSince }: PipelineHistory) => {
  const first = failingSince && builds.find(({ id }) => id === failingSince.buildId);
  if (!first) return null;
  const newest = builds.find(({ status, branch }) => status === "failed" && branch === first.branch) ?? first;
  return { first, newest, ...failingSince };
};

const Since = ({ first, isCertain, hasPassed }: NonNullable<ReturnType<typeof findRed>>) => (
  <>
    failing since #{first.number}
    {!isCertain && " or earlier"}
    {hasPassed && ", on a commit that had passed"}
    {isCertain && !hasPassed && first.author && (
      <>
        {" "}
        by <bdi>{first.author}</bdi>
      </>
    )}
  </>
);

const Red = ({ history, names, now }: { history: PipelineHistory; names: NamesById; now: Date }) => {
  const red = findRed(history);
  if (!red) return null;
  const { first, newest, commits, builds } = red;
  return (
    <Item
      id={`red-${history.pipelineId}`}
      buildId={first.id}
      number={first.number}
      state={first.status}
      loud={first.subject ?? `#${first.number}`}
      actions={
        newest.id === first.id ? undefined : (
          <a href={`/app/builds/${newest.id}`} class="quiet-number">
            latest #{newest.number}
          </a>
        )
      }
    >
      <Since {...red} />, <RelativeTime at={first.finishedAt} now={now} />
      {builds > 1 && `, ${commits === null ? count(builds, "build") : count(commits, "commit")}`}:{" "}
      <PipelineName build={history} names={names} /> on <bdi>{first.branch}</bdi>
    </Item>
  );
};

const Own = ({ build, names, now }: { build: Build; names: NamesById; now: Date }) => {
  const { id, number, status, subject, startedAt, queuedAt, finishedAt } = build;
  return (
    <Item id={`own-${id}`} buildId={id} number={number} state={status} loud={subject ?? refName(build)}>
      you started <PipelineName build={build} names={names} />
      {subject && (
        <>
          {" on "}
          <bdi>{refName(build)}</bdi>
        </>
      )}{" "}
      {finishedAt === null ? (
        <Elapsed from={startedAt ?? queuedAt} to={null} now={now} />
      ) : (
        <>
          <RelativeTime at={finishedAt} now={now} /> <bdi class="outcome">{build.failedLine ?? whyEnded(build)}</bdi>
        </>
      )}
    </Item>
  );
};

const isOwn = ({ admitted }: Context, { createdBy }: Build): boolean =>
  createdBy !== null && createdBy.id === admitted.token?.id;

/** Returns the waiting gates that this person may answer. */
const gatesFor = (context: Context, { live }: ForYou) =>
  live.flatMap((build) =>
    build.waitsFor
      .filter(({ gate }) => hasRole(context, "member") && hasRole(context, gate.by))
      .map((asks) => ({ build, asks })),
  );

/** Shows the decisions that wait for this person, red default branches, and the person's own builds. */
export const ForYouList = ({ context, forYou, red, names }: ForYouProps) => {
  const { now } = context;
  const gates = gatesFor(context, forYou);
  const own = [...forYou.live.filter((build) => isOwn(context, build)), ...forYou.failed];
  const isRedBuild = new Set(red.map(findRed).flatMap((one) => (one ? [one.first.id, one.newest.id] : [])));
  const started = own.filter(({ id }) => !isRedBuild.has(id));
  if (gates.length + red.length + started.length === 0) return null;
  return (
    <section class="for-you" aria-labelledby="for-you">
      <h2 id="for-you">For you</h2>
      <ul class="rows">
        {gates.slice(0, SHOWN).map((one) => (
          <Gate {...one} names={names} now={now} />
        ))}
        {red.slice(0, SHOWN).map((history) => (
          <Red history={history} names={names} now={now} />
        ))}
        {started.slice(0, SHOWN).map((build) => (
          <Own build={build} names={names} now={now} />
        ))}
      </ul>
    </section>
  );
};
