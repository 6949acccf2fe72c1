import type { ConnectionCheck } from "../../protocol/connection.ts";
import { checkConnection } from "../../services/connections/connection-check.ts";
import { getConnection } from "../../services/connections/connections.ts";
import { count } from "../parts/format.ts";
import { RelativeTime } from "../parts/time.tsx";
import { connectionTrail, type Page, type Pages } from "../shell/page-definition.ts";
import { byId } from "../shell/verb-input.ts";
import { Facts } from "./connection.tsx";
import { HookOutcomes } from "./hook.tsx";

const Rights = ({ account, scopes, missing }: ConnectionCheck) => (
  <section>
    <h2>Token</h2>
    {account && (
      <p>
        The token belongs to <strong>{account}</strong>
        {scopes && scopes.length > 0 && (
          <>
            {" "}
            and has the scopes <code>{scopes.join(", ")}</code>
          </>
        )}
        .
      </p>
    )}
    {missing.length > 0 ? (
      <ul class="problem">
        {missing.map((sentence) => (
          <li>{sentence}</li>
        ))}
      </ul>
    ) : (
      account && <p>{scopes ? "No permissions are missing." : "The host does not report the token's permissions."}</p>
    )}
  </section>
);

/** Shows the build states that the host has not received yet, and the states that it rejected. */
const States = ({ check, now }: { check: ConnectionCheck; now: Date }) => {
  const { waiting, waitingSince, trouble, givenUp } = check;
  return (
    <section>
      <h2>Build states</h2>
      {waiting === 0 ? (
        <p>{givenUp.length === 0 ? "The host has received all states." : "No states are waiting."}</p>
      ) : (
        <p>
          {count(waiting, "state")} waiting to be sent
          {waitingSince && (
            <>
              . The oldest is from <RelativeTime at={waitingSince} now={now} />
            </>
          )}
          .
        </p>
      )}
      {trouble && <p class="outcome">{trouble}</p>}
      {givenUp.length > 0 && (
        <>
          <p>Millrace stopped sending these:</p>
          <ul class="outcomes">
            {givenUp.map(({ fullName, sha, context, buildId, reason, at }) => (
              <li>
                <a href={`/app/builds/${buildId}`}>{fullName}</a> <code title={sha}>{sha.slice(0, 7)}</code>{" "}
                <bdi>{context}</bdi>, <RelativeTime at={at} now={now} />: {reason}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
};

/** Shows differences from the host that may be intentional. */
const Differences = ({ differences }: Pick<ConnectionCheck, "differences">) => (
  <section>
    <h2>Repositories</h2>
    <ul class="outcomes">
      {differences.map(({ repositoryId, fullName, detail }) => (
        <li>
          <a href={`/app/repositories/${repositoryId}`}>{fullName}</a> {detail}
        </li>
      ))}
    </ul>
  </section>
);

const page: Page = {
  path: "/connections/:id/check",
  role: "maintainer",
  async show(context, { params }) {
    const id = byId(params.id);
    const [connection, check] = await Promise.all([getConnection.run(context, id), checkConnection.run(context, id)]);
    const { problem, hooks, lastDeliveryAt, givenUp } = check;
    const isAllWell = check.isOk && connection.auth !== "none" && givenUp.length === 0;
    return {
      title: "Check",
      section: "connections",
      trail: connectionTrail(connection),
      body: (
        <div class="column">
          <h1>Check</h1>
          <Facts connection={connection} />
          {problem && (
            <p class="problem" role="alert">
              {problem}
            </p>
          )}
          {isAllWell && <p class="tone-good">The host accepts the token, and all webhooks are in place.</p>}
          {connection.auth !== "none" && <Rights {...check} />}
          {connection.auth !== "none" && <States check={check} now={context.now} />}
          {check.differences.length > 0 && <Differences {...check} />}
          <section>
            <h2>Webhooks</h2>
            {hooks.length > 0 ? (
              <HookOutcomes hooks={hooks} />
            ) : (
              <p>Millrace has created no webhooks for this connection.</p>
            )}
            <p>
              {lastDeliveryAt ? (
                <>
                  Last delivery: <RelativeTime at={lastDeliveryAt} now={context.now} />
                </>
              ) : (
                "No deliveries yet"
              )}
            </p>
          </section>
        </div>
      ),
    };
  },
};

export const checkPages: Pages = [page];
