import { PERIODS } from "../../protocol/limits.ts";
import { getRepository } from "../../services/repositories/repositories.ts";
import { getTestHistory, listFlakyTests } from "../../services/tests/flaky-tests.ts";
import { testName } from "../parts/format.ts";
import { Table } from "../parts/lists.tsx";
import { RelativeTime } from "../parts/time.tsx";
import { type Page, type Pages, repositoryTrail } from "../shell/page-definition.ts";
import { byId } from "../shell/verb-input.ts";

const flakyPage: Page = {
  path: "/repositories/:id/flaky",
  role: "viewer",
  async show(context, { params }) {
    const [repository, tests] = await Promise.all([
      getRepository.run(context, byId(params.id)),
      listFlakyTests.run(context, byId(params.id)),
    ]);
    return {
      title: "Flaky tests",
      section: "repositories",
      trail: repositoryTrail(repository),
      body: (
        <>
          <h1>Flaky tests</h1>
          <p class="hint">
            These tests failed and passed on the same commit in the last {PERIODS.flakyDays} days. A test leaves this
            list after five builds on the default branch in which it was not flaky.
          </p>
          {tests.length === 0 ? (
            <p>No flaky tests</p>
          ) : (
            <Table columns={["Test", "Job", "Occurrences", "Last seen"]}>
              {tests.map((test) => (
                <tr data-row tabindex={-1}>
                  <td>
                    <a href={`/app/repositories/${repository.id}/tests/${test.id}`} class="test-name">
                      <bdi>{testName(test)}</bdi>
                    </a>
                  </td>
                  <td>{test.jobKey}</td>
                  <td>{test.times}</td>
                  <td>
                    <a href={`/app/builds/${test.lastBuildId}`}>
                      <RelativeTime at={test.lastAt} now={context.now} />
                    </a>
                  </td>
                </tr>
              ))}
            </Table>
          )}
        </>
      ),
    };
  },
};

const historyPage: Page = {
  path: "/repositories/:id/tests/:testId",
  role: "viewer",
  async show(context, { params }) {
    const repoId = byId(params.id);
    const [repository, test] = await Promise.all([
      getRepository.run(context, repoId),
      getTestHistory.run(context, {
        ...repoId,
        params: { id: params.id ?? "", testId: params.testId ?? "" },
      }),
    ]);
    return {
      title: testName(test),
      section: "repositories",
      trail: repositoryTrail(repository),
      body: (
        <>
          <h1>
            <bdi class="test-name">{testName(test)}</bdi>
          </h1>
          <p class="facts">
            <a href={`/app/repositories/${repository.id}`}>{repository.fullName}</a>
            {test.file !== null && <code>{test.file}</code>}
            <a href={`/app/repositories/${repository.id}/flaky`}>Flaky tests</a>
          </p>
          <h2>Latest failures</h2>
          <Table columns={["When", "Branch", "Commit", "Result"]}>
            {test.failures.map(({ buildId, at, branch, commitSha, kind }) => (
              <tr data-row tabindex={-1}>
                <td>
                  <a href={`/app/builds/${buildId}`}>
                    <RelativeTime at={at} now={context.now} />
                  </a>
                </td>
                <td>
                  <bdi>{branch}</bdi>
                </td>
                <td>{commitSha && <code>{commitSha.slice(0, 7)}</code>}</td>
                <td>{kind}</td>
              </tr>
            ))}
          </Table>
        </>
      ),
    };
  },
};

export const testPages: Pages = [flakyPage, historyPage];
