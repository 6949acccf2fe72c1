import type { Build } from "../../protocol/build.ts";
import type { HostDelivery } from "../../protocol/delivery.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { listBuilds } from "../../services/builds/build-list.ts";
import { getConnection } from "../../services/connections/connections.ts";
import { listDeliveries, redeliverDelivery } from "../../services/deliveries/deliveries.ts";
import { listRepositories } from "../../services/repositories/repositories.ts";
import { ProblemNotice } from "../parts/form-page.tsx";
import { filterByText, NoMatch, TextFilter } from "../parts/list-filter.tsx";
import { Table } from "../parts/lists.tsx";
import { StateIcon, wordOf } from "../parts/state.tsx";
import { RelativeTime } from "../parts/time.tsx";
import { connectionTrail, formOn, type Page, type Pages } from "../shell/page-definition.ts";
import { byId, noInput, parseBody } from "../shell/verb-input.ts";
import { AddForm } from "./host-repositories.tsx";

const REFRESH_SECONDS = 15;
/** The maximum number of builds that the page shows for one delivery. */
const MOST_BUILDS = 20;

interface RowDetails {
  connectionId: string;
  now: Date;
  /** The connected repositories by the host's number, and the newest builds by id. */
  repositories: Map<number, string>;
  builds: Map<string, Build>;
}

/** Returns a ref as lists show it, such as `main`, `v1` or `#12`. */
const shortRef = (ref: string): string =>
  ref.replace(/^refs\/(?:heads|tags)\//, "").replace(/^refs\/(?:pull|merge-requests)\/(\d+)\/head$/, "#$1");

/** Links to a build. The link to an older build has no number. */
const BuildLink = ({ id, build }: { id: string; build: Build | undefined }) => (
  <a href={`/app/builds/${id}`} class="delivered">
    {build && <StateIcon state={build.status} />}
    {build && <span class="sr">{wordOf(build.status)} </span>}
    {build ? `#${build.number}` : "build"}
  </a>
);

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

/**
 * Shows the reason. The text may end with the address of one of our pages. Refs have no colon, so no other part of the
 * text is an address.
 */
const Reason = ({ text }: { text: string }) => {
  const [, words, path] = /^(.*) https?:\/\/[^/\s]+(\/app\/\S+)$/.exec(text) ?? [];
  if (!words || !path) return <span>{sentence(text)}</span>;
  return (
    <span>
      {words.charAt(0).toUpperCase() + words.slice(1)} <a href={path}>the repository page</a>.
    </span>
  );
};

const Outcome = ({ delivery, details }: { delivery: HostDelivery; details: RowDetails }) => {
  const { repository, builds, ignored } = delivery;
  const isUnknown = repository !== null && !details.repositories.has(repository.hostRepoId);
  return (
    <>
      {builds.slice(0, MOST_BUILDS).map((id) => (
        <>
          <BuildLink id={id} build={details.builds.get(id)} />{" "}
        </>
      ))}
      {builds.length > MOST_BUILDS && <span>and {builds.length - MOST_BUILDS} more. </span>}
      {ignored !== null && <Reason text={ignored} />}
      {isUnknown && <AddForm connectionId={details.connectionId} repository={repository} isNamed />}
    </>
  );
};

const Repository = ({
  repository,
  repositories,
}: Pick<HostDelivery, "repository"> & Pick<RowDetails, "repositories">) => {
  const id = repository && repositories.get(repository.hostRepoId);
  return id ? <a href={`/app/repositories/${id}`}>{repository?.fullName}</a> : repository?.fullName;
};

const Row = ({ delivery, details }: { delivery: HostDelivery; details: RowDetails }) => {
  const { id, at, event, repository, ref, sha, mayRedeliver } = delivery;
  return (
    <tr class="delivery" data-row tabindex={-1}>
      <td>
        <RelativeTime at={at} now={details.now} />
      </td>
      <td>{event.replaceAll("_", " ")}</td>
      <td>
        <Repository repository={repository} repositories={details.repositories} />
      </td>
      <td>{ref && shortRef(ref)}</td>
      <td>{sha && <code title={sha}>{sha.slice(0, 7)}</code>}</td>
      <td class="came-of-it">
        <Outcome delivery={delivery} details={details} />
      </td>
      <td>
        {mayRedeliver && (
          <form method="post">
            <input type="hidden" name="delivery" value={id} />
            <button type="submit" class="quiet" title={id}>
              Redeliver
            </button>
          </form>
        )}
      </td>
    </tr>
  );
};

const COLUMNS = ["Time", "Event", "Repository", "Ref", "Commit", "Result", <span class="sr">Actions</span>];

const page: Page = {
  path: "/connections/:id/deliveries",
  role: "maintainer",
  async show(context, request) {
    const id = byId(request.params.id);
    const [connection, all, repositories, { value: builds }] = await Promise.all([
      getConnection.run(context, id),
      listDeliveries.run(context, id),
      listRepositories.run(context, noInput),
      listBuilds.answer(context, { ...noInput, query: { limit: LIMITS.pageLength } }),
    ]);
    const deliveries = filterByText(all, request.query, ({ event, repository, ref, sha, ignored }) =>
      [event, repository?.fullName, ref, sha, ignored].filter((text) => text != null),
    );
    const own = repositories.filter(({ connectionId }) => connectionId === connection.id);
    const details: RowDetails = {
      connectionId: connection.id,
      now: context.now,
      repositories: new Map(own.map(({ gitHostRepoId, id }) => [gitHostRepoId, id])),
      builds: new Map(builds.map((build) => [build.id, build])),
    };
    const path = `/app/connections/${connection.id}/deliveries`;
    return {
      title: "Deliveries",
      section: "connections",
      trail: connectionTrail(connection),
      refreshSeconds: REFRESH_SECONDS,
      body: (
        <>
          <ProblemNotice request={{ problem: request.problem, form: null }} />
          <div class="head">
            <h1>Deliveries</h1>
            {all.length > 0 && <TextFilter path={path} query={request.query} label="Search" />}
          </div>
          {deliveries.length > 0 && (
            <Table columns={COLUMNS}>
              {deliveries.map((delivery) => (
                <Row delivery={delivery} details={details} />
              ))}
            </Table>
          )}
          {all.length > 0 && deliveries.length === 0 && <NoMatch noun="delivery" href={path} />}
          {all.length === 0 && (
            <p class="empty">
              No deliveries yet. <a href={`/app/connections/${connection.id}`}>Create a webhook</a>, then push. Each
              delivery appears here with its result.
            </p>
          )}
          {all.length >= LIMITS.deliveries && (
            <p class="hint more">Only the last {LIMITS.deliveries} deliveries are kept.</p>
          )}
        </>
      ),
    };
  },
};

const redeliverForm = formOn(page, redeliverDelivery, async (context, { params, form }) => {
  const target = { id: params.id ?? "", deliveryId: form.get("delivery") ?? "" };
  await redeliverDelivery.run(context, { ...byId(params.id), params: parseBody(redeliverDelivery.params, target) });
  return { to: `/app/connections/${params.id}/deliveries`, notice: "redelivered" };
});

export const deliveryPages: Pages = [page, redeliverForm];
