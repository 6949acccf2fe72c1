import type { Build } from "../../protocol/build.ts";
import { withCommas } from "../../protocol/units.ts";
import { getAgent } from "../../services/agents/agents.ts";
import { type Comparison, readComparison, type TimeOfBoth } from "../../services/builds/comparison.ts";
import type { Context } from "../../services/core/context.ts";
import { nullIfNotFound } from "../../services/core/refusal.ts";
import { repositoryName } from "../parts/build-name.tsx";
import { refName } from "../parts/build-origin.tsx";
import { count, formatDuration } from "../parts/format.ts";
import { Table } from "../parts/lists.tsx";
import { StateWord } from "../parts/state.tsx";
import { Elapsed, RelativeTime } from "../parts/time.tsx";
import type { Page } from "../shell/page-definition.ts";
import { byId } from "../shell/verb-input.ts";

/** The number of equal lines to show around each difference. */
const AROUND = 3;

type Lines = NonNullable<Comparison["log"]>["lines"];

const SIGNS = { same: " ", added: "+", removed: "−" } as const;
const WORDS = { same: "", added: "only in this build: ", removed: "only in the last green build: " } as const;

/** Replaces equal lines that are far from any difference with the number of these lines. */
const shortenEqualParts = (lines: Lines): (Lines[number] | number)[] => {
  const isNear = (at: number) =>
    lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ kind }) => kind !== "same");
  const parts: (Lines[number] | number)[] = [];
  for (const [at, line] of lines.entries()) {
    const last = parts.at(-1);
    if (line.kind !== "same" || isNear(at)) parts.push(line);
    else if (typeof last === "number") parts[parts.length - 1] = last + 1;
    else parts.push(1);
  }
  return parts;
};

/** Shows how a step's log differs from the log of the last green build. The comparison ignores times and numbers. */
const LogDifference = ({ lines }: { lines: Lines }) => (
  <section class="difference" tabindex={0} aria-label="Log differences">
    <pre>
      {shortenEqualParts(lines).map((line) =>
        typeof line === "number" ? (
          <span class="left-out">{`… ${withCommas(line)} unchanged ${line === 1 ? "line" : "lines"}`}</span>
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

/** The maximum number of rows with times. The largest increases come first. */
const TIMES = 50;

const agentName = async (context: Context, id: string | null): Promise<string | null> => {
  const agent = id === null ? null : await nullIfNotFound(getAgent.run(context, byId(id)));
  return agent?.name ?? null;
};

const Side = ({ title, build, agent, now }: { title: string; build: Build; agent: string | null; now: Date }) => (
  <section class="side">
    <h2>{title}</h2>
    <p>
      <StateWord state={build.status} /> <a href={`/app/builds/${build.id}`}>#{build.number}</a>{" "}
      {build.startedAt && <Elapsed from={build.startedAt} to={build.finishedAt} now={now} />}
    </p>
    <p>
      <bdi>{build.subject ?? refName(build)}</bdi>
      {build.author && (
        <span class="hint">
          {" "}
          by <bdi>{build.author}</bdi>
        </span>
      )}
    </p>
    <p class="hint">
      <bdi>{refName(build)}</bdi> {build.commitSha && <code>{build.commitSha.slice(0, 7)}</code>}{" "}
      {agent && (
        <>
          on <bdi>{agent}</bdi>{" "}
        </>
      )}
      <RelativeTime at={build.finishedAt ?? build.queuedAt} now={now} />
    </p>
  </section>
);

const Commits = ({ build, green, commitsUrl }: Comparison) => {
  const isSame = green?.commitSha != null && green.commitSha === build.commitSha;
  if (isSame) return <p>Both builds have the same commit.</p>;
  return commitsUrl ? (
    <p>
      <a href={commitsUrl} rel="noopener noreferrer">
        View commits
      </a>
    </p>
  ) : null;
};

const Environment = ({ environment }: Comparison) => (
  <section>
    <h2>Environment</h2>
    {environment.length === 0 ? (
      <p class="hint">No changes</p>
    ) : (
      <Table columns={["Key", "Change"]}>
        {environment.map(({ key, change, how }) => (
          <tr>
            <td>
              <code>{key}</code>
            </td>
            <td>{how ?? change}</td>
          </tr>
        ))}
      </Table>
    )}
  </section>
);

const span = (seconds: number | null): string => (seconds === null ? "–" : formatDuration(seconds * 1000));

const grewBy = ({ before, now }: TimeOfBoth): number => (before === null || now === null ? 0 : now - before);

const signedSpan = (seconds: number): string =>
  Math.abs(seconds) < 1 ? "0s" : `${seconds > 0 ? "+" : "−"}${formatDuration(Math.abs(seconds) * 1000)}`;

const Times = ({ times }: Comparison) => {
  const noun = times.some(({ isStep }) => isStep) ? "Step" : "Job";
  return times.length === 0 ? null : (
    <section class="times">
      <h2>{noun}s</h2>
      <Table columns={[noun, "Last green", "This build", "Difference"]}>
        {times
          .toSorted((a, b) => (times.length > TIMES ? Math.abs(grewBy(b)) - Math.abs(grewBy(a)) : 0))
          .slice(0, TIMES)
          .map((time) => (
            <tr>
              <td>
                <bdi>{time.name}</bdi>
              </td>
              <td class="time-cell">{span(time.before)}</td>
              <td class="time-cell">{span(time.now)}</td>
              <td class="time-cell">{time.before === null || time.now === null ? "–" : signedSpan(grewBy(time))}</td>
            </tr>
          ))}
      </Table>
      {times.length > TIMES && (
        <p class="hint">
          {TIMES} largest differences of {count(times.length, "step")}
        </p>
      )}
    </section>
  );
};

const Log = ({ log, job, build }: Comparison) => {
  if (build.status !== "failed") return null;
  return (
    <section>
      <h2>
        {log ? (
          <>
            Log: <bdi>{log.step}</bdi>
          </>
        ) : (
          "Log"
        )}
        {job && (
          <>
            {" "}
            in <bdi>{job}</bdi>
          </>
        )}
      </h2>
      {log ? (
        <>
          <p class="hint">The end of the failed step. Differences in numbers, times and hashes are ignored.</p>
          <LogDifference lines={log.lines} />
        </>
      ) : (
        <p class="hint">No log to compare for the failed step</p>
      )}
    </section>
  );
};

export const comparePage: Page = {
  path: "/builds/:id/compare",
  role: "viewer",
  async show(context, { params }) {
    const comparison = await readComparison(context, params.id ?? "");
    const { build, owners, green, agents } = comparison;
    const [before, now] = await Promise.all([agentName(context, agents.before), agentName(context, agents.now)]);
    return {
      title: `#${build.number} ${repositoryName(owners)}: comparison`,
      crumb: "Compare",
      section: "builds",
      trail: [
        { name: "Builds", href: "/app/builds" },
        { name: `#${build.number} ${repositoryName(owners)}`, href: `/app/builds/${build.id}` },
      ],
      body: (
        <>
          <h1>{green ? `What changed since #${green.number}` : "No earlier build succeeded"}</h1>
          {green ? (
            <>
              <div class="sides">
                <Side title="Last green" build={green} agent={before} now={context.now} />
                <Side title="This build" build={build} agent={now} now={context.now} />
              </div>
              <Commits {...comparison} />
              <Log {...comparison} />
              <Environment {...comparison} />
              <Times {...comparison} />
            </>
          ) : (
            <p class="empty">
              No build before <a href={`/app/builds/${build.id}`}>#{build.number}</a> succeeded on its branch or on the
              default branch.
            </p>
          )}
        </>
      ),
    };
  },
};
