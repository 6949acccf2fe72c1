import type { ConnectionCheck } from "../../../protocol/connection.ts";
import { checkConnection } from "../../../services/connection-check.ts";
import { getConnection } from "../../../services/connections.ts";
import { RelativeTime } from "../../components/time.tsx";
import type { Page } from "../../page-definition.ts";
import { byId } from "../../verb-input.ts";
import { Facts } from "./connection.tsx";
import { HookOutcomes } from "./hook.tsx";

const Rights = ({ account, scopes, missing }: ConnectionCheck) => (
  <section>
    <h2>Token</h2>
    {account && (
      <p>
        It is the token of <strong>{account}</strong>
        {scopes && scopes.length > 0 && (
          <>
            {" "}
            and may: <code>{scopes.join(", ")}</code>
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
      account && <p>{scopes ? "It lacks no right." : "The host does not tell which rights it has."}</p>
    )}
  </section>
);

const page: Page = {
  path: "/connections/:id/check",
  role: "maintainer",
  async show(context, { params }) {
    const id = byId(params.id);
    const [connection, check] = await Promise.all([getConnection.run(context, id), checkConnection.run(context, id)]);
    const { isOk, problem, hooks, lastDeliveryAt } = check;
    return {
      title: `Check of ${connection.name}`,
      section: "connections",
      body: (
        <div class="column">
          <h1>
            Check of <a href={`/app/connections/${connection.id}`}>{connection.name}</a>
          </h1>
          <Facts connection={connection} />
          {problem && (
            <p class="problem" role="alert">
              {problem}
            </p>
          )}
          {isOk && <p class="notice">Everything that Millrace asked for was answered.</p>}
          {connection.hasToken && <Rights {...check} />}
          <section>
            <h2>Hooks</h2>
            {hooks.length > 0 ? <HookOutcomes hooks={hooks} /> : <p>Millrace has made no hook for this connection.</p>}
            <p>
              {lastDeliveryAt ? (
                <>
                  The last delivery came <RelativeTime at={lastDeliveryAt} now={context.now} />.
                </>
              ) : (
                "Nothing has been delivered yet."
              )}
            </p>
          </section>
        </div>
      ),
    };
  },
};

export const checkPages: Page[] = [page];
