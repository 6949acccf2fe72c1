import type { EnvironmentKey } from "../../protocol/build.ts";
import { plannedJobs } from "../../services/builds/build-view.ts";
import type { Context } from "../../services/core/context.ts";
import { Artifacts } from "../build/artifact-list.tsx";
import { LogPanel } from "../build/build-log.tsx";
import { FailureBand } from "../build/failure-band.tsx";
import { StepWaterfall, TimesInWords } from "../build/step-waterfall.tsx";
import { readTests, TestsSection } from "../build/tests.tsx";
import { count } from "../parts/format.ts";
import { Table } from "../parts/lists.tsx";
import { assetUrl } from "../shell/document.tsx";
import type { Child } from "../shell/markup.ts";
import { hasEnded } from "./arrange.ts";
import type { Details, JobDetails, OpenedPage } from "./details.ts";
import { JobOutputs } from "./job-facts.tsx";
import { chooseTab, PartTabs, type Tab, tabAddress } from "./part-tabs.tsx";

/** Shows the environment keys of a build or a job, with their sources, or nothing if it has no keys. */
const EnvironmentKeys = ({ keys }: { keys: EnvironmentKey[] | null }) =>
  keys === null || keys.length === 0 ? null : (
    <section class="part" id="environment">
      <h2>Environment: {count(keys.length, "key")}</h2>
      <Table columns={["Key", "Scope", "Kind"]}>
        {keys.map(({ key, scope, isSecret, isFile }) => (
          <tr>
            <td>
              <code>{key}</code>
            </td>
            <td>{scope}</td>
            <td>
              {isSecret ? "secret" : "plain"}
              {isFile && " file"}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );

/** Shows the summary. The page's script renders the Markdown; without scripts, the page shows the Markdown's source. */
const BuildSummary = ({ text }: { text: string }) => (
  <section class="part" id="summary">
    <h2>Summary</h2>
    <div class="prose" id="summary-shown" data-keep data-renderer={assetUrl("markdown.js")}></div>
    <pre class="prose" id="summary-source">
      {text}
    </pre>
  </section>
);

/** Lists the tabs that have content. The page opens with the first tab. */
const listTabs = ({ run, logTail, artifacts }: Details): Tab[] => {
  const { tests } = run;
  const [keys, outputs] = [run.environment?.length ?? 0, Object.keys(run.outputs ?? {}).length];
  return [
    ...(logTail === undefined ? [] : [{ name: "log", title: "Log", count: null }]),
    ...(tests ? [{ name: "tests", title: "Tests", count: tests.failed || tests.total, isBad: tests.failed > 0 }] : []),
    ...(artifacts.length > 0 ? [{ name: "artifacts", title: "Artifacts", count: artifacts.length }] : []),
    ...(keys > 0 ? [{ name: "environment", title: "Environment", count: keys }] : []),
    ...(outputs > 0 ? [{ name: "outputs", title: "Outputs", count: outputs }] : []),
    ...(run.summary === null ? [] : [{ name: "summary", title: "Summary", count: null }]),
  ];
};

/**
 * Reads the content of the tab in the address.
 * @param page the page's path
 */
export const openBody = async (
  context: Context,
  details: Details,
  page: string,
  query: URLSearchParams,
): Promise<OpenedPage> => {
  const tabs = listTabs(details);
  const tab = chooseTab(query, tabs);
  const tests = await readTests(context, details, { asPart: tab === "tests", asFailures: details.failure !== null });
  const testsPage = `${tabAddress(page, tabs, "tests")}#parts`;
  return { page, tabs, tab, tests, testsPage, logPage: tab === "log" ? "" : page };
};

interface BodyProps {
  details: Details;
  opened: OpenedPage;
}

/** Shows the content of the chosen tab. */
const Part = ({ details, opened: { tab, page, tests } }: BodyProps) => {
  const { run, build, now, logTail, repository, artifacts, jobs } = details;
  if (tab === "log" && logTail !== undefined)
    return <LogPanel path={page} attempt={run.attempt} isLive={!hasEnded(run)} tail={logTail} />;
  if (tab === "tests") return <TestsSection tests={tests} repoId={build.repoId} branch={repository?.defaultBranch} />;
  if (tab === "artifacts") {
    const others = plannedJobs({ id: run.id, jobs });
    return <Artifacts artifacts={artifacts} jobs={others} now={now} />;
  }
  if (tab === "environment") return <EnvironmentKeys keys={run.environment} />;
  if (tab === "outputs") return <JobOutputs outputs={run.outputs ?? {}} />;
  return tab === "summary" && run.summary ? <BuildSummary text={run.summary} /> : null;
};

/** Shows why the job or build failed, where the time went, and a tab for each kind of content. */
export const Body = ({ details, opened, children }: BodyProps & { children: Child }) => (
  <>
    <FailureBand details={details} opened={opened} />
    {children}
    <PartTabs page={opened.page} tabs={opened.tabs} current={opened.tab} />
    <Part details={details} opened={opened} />
  </>
);

/** Shows a job on its own page or its build's: why it failed, its steps, and the tabs. */
export const JobBody = ({ details, opened }: { details: JobDetails; opened: OpenedPage }) => {
  const { run: job, now, usual, agent } = details;
  return (
    <Body details={details} opened={opened}>
      <StepWaterfall
        run={job}
        now={now}
        usual={usual}
        summary={<TimesInWords run={job} steps={job.steps} usual={usual.whole} agent={agent} now={now} />}
        logPage={opened.logPage}
      />
    </Body>
  );
};
