import type { Agent } from "../../protocol/agent.ts";
import type { Repository } from "../../protocol/repository.ts";
import { listAgents } from "../../services/agents/agents.ts";
import { listBuilds } from "../../services/builds/build-list.ts";
import type { Context } from "../../services/core/context.ts";
import { listRepositories } from "../../services/repositories/repositories.ts";
import { Copyable } from "../parts/copied-code.tsx";
import { RelativeTime } from "../parts/time.tsx";
import type { Child } from "../shell/markup.ts";
import { hasRole, type Page } from "../shell/page-definition.ts";
import { noInput } from "../shell/verb-input.ts";

/** Seconds between refreshes while a page waits for an agent or a push. */
export const FIRST_HOUR_SECONDS = 5;

const SAMPLE = `steps:
  - name: Test
    run: npm ci && npm test
`;

/** Shows a step. The stylesheet draws a ring, or a tick if the step is done. */
const Step = ({ isDone, title, children }: { isDone: boolean; title: Child; children?: Child }) => (
  <li class={isDone ? "is-done" : undefined}>
    <strong>{title}</strong>
    {isDone && <span class="sr"> done</span>}
    <p>{children}</p>
  </li>
);

const Link = ({ to, isOpen, children }: { to: string; isOpen: boolean; children?: Child }) =>
  isOpen ? <a href={to}>{children}</a> : <span>{children}</span>;

/** Returns the agent with the latest heartbeat. */
const newest = (agents: Agent[]): Agent | undefined =>
  agents.toSorted((left, right) => right.lastHeartbeatAt.localeCompare(left.lastHeartbeatAt))[0];

const Next = ({ context, repository }: { context: Context; repository: Repository | undefined }) => (
  <section aria-labelledby="then">
    <h2 id="then">Next steps</h2>
    <ul class="plain">
      <li>
        <Link to="/app/variables" isOpen={hasRole(context, "member")}>
          Add a secret
        </Link>
        : logs never show it, and you see which builds got it.
      </li>
      <li>
        <Link to="/app/agents/new" isOpen={hasRole(context, "maintainer")}>
          Add a second agent
        </Link>
        : run two builds at once.
      </li>
      {repository && (
        <li>
          <Link to={`/app/repositories/${repository.id}`} isOpen>
            Set up its pipeline
          </Link>
          : triggers, and a badge for the README.
        </li>
      )}
      <li>
        Press <kbd>Ctrl K</kbd> to search or run an action, and <kbd>?</kbd> to list the keyboard shortcuts.
      </li>
    </ul>
  </section>
);

interface FirstHourProps {
  context: Context;
  repositories: Repository[];
  agents: Agent[];
  hasBuilds: boolean;
}

/** Leads a person from an empty organization to the first build by a push. Each line turns green by itself. */
export const FirstHour = ({ context, repositories, agents, hasBuilds }: FirstHourProps) => {
  const [repository] = repositories;
  const agent = newest(agents);
  const isMaintainer = hasRole(context, "maintainer");
  return (
    <>
      <ol class="first-hour" aria-label="Get started">
        <Step
          isDone={repository !== undefined}
          title={
            <Link to="/app/connections/new" isOpen={isMaintainer}>
              Connect a git host
            </Link>
          }
        >
          {repository ? (
            <>
              <bdi>{repository.fullName}</bdi> is connected.
            </>
          ) : (
            <>
              Pushes then create builds. Or{" "}
              <Link to="/app/repositories/new" isOpen={isMaintainer}>
                connect a repository
              </Link>{" "}
              by its URL.
            </>
          )}
        </Step>
        <Step
          isDone={agent !== undefined}
          title={
            <Link to="/app/agents/new" isOpen={isMaintainer}>
              Add an agent
            </Link>
          }
        >
          {agent ? (
            <>
              <bdi>{agent.name}</bdi> checked in <RelativeTime at={agent.lastHeartbeatAt} now={context.now} />.
            </>
          ) : (
            "Your Mac or Linux machine that runs the steps. This page updates when the agent checks in."
          )}
        </Step>
        <Step isDone={hasBuilds} title="Push">
          A push runs the commit's <code>.millrace.yml</code> once the repository has a{" "}
          <Link
            to={`/app/repositories/${repository?.id}/pipelines/new`}
            isOpen={isMaintainer && repository !== undefined}
          >
            pipeline
          </Link>
          . Or{" "}
          <Link to="/app/builds/new" isOpen={hasRole(context, "member") && repository !== undefined}>
            run a build
          </Link>{" "}
          from here.
        </Step>
      </ol>
      <section aria-labelledby="sample">
        <h2 id="sample">Sample pipeline</h2>
        <p class="hint">
          Commit this file as <code>.millrace.yml</code>. The <a href="/docs/pipelines.md">pipeline reference</a> lists
          all keys.
        </p>
        <Copyable text={SAMPLE} />
      </section>
      <Next context={context} repository={repository} />
    </>
  );
};

/** Shows the first page of an empty organization to people who want to see it again. */
export const firstHourPage: Page = {
  path: "/first-hour",
  role: "viewer",
  async show(context) {
    const [repositories, agents, builds] = await Promise.all([
      listRepositories.run(context, noInput),
      listAgents.run(context, noInput),
      listBuilds.run(context, { ...noInput, query: { limit: 1 } }),
    ]);
    return {
      title: "Get started",
      section: "overview",
      trail: [{ name: "Overview", href: "/app" }],
      refreshSeconds: FIRST_HOUR_SECONDS,
      body: (
        <>
          <h1>Get started</h1>
          <FirstHour context={context} repositories={repositories} agents={agents} hasBuilds={builds.length > 0} />
        </>
      ),
    };
  },
};
