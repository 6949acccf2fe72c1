import * as z from "zod/mini";
import { type Arrival, ignored } from "../core/arrival.ts";
import type { Fields } from "../core/body.ts";
import { factsIn, HostId, LineField, Login, RepositoryField, Sha } from "../core/fields.ts";
import { COMMIT_AS_WHOLE } from "../core/status.ts";

/* What people ask for at GitHub's check runs: https://docs.github.com/en/webhooks/webhook-events-and-payloads#check_run */

const OfApp = z.object({ head_sha: Sha, app: z.object({ id: HostId }) });
const Asked = { action: z.string(), repository: RepositoryField, sender: Login };

const CheckRun = z.object({
  ...Asked,
  check_run: z.extend(OfApp, { external_id: z.nullish(LineField) }),
  requested_action: z.nullish(z.object({ identifier: LineField })),
});
const CheckSuite = z.object({ ...Asked, check_suite: OfApp });

const NOBODY = ignored("Nobody asks for anything by this event.");
const NO_COMMIT = ignored("The check names no commit.");

export const checkRunArrival = (fields: Fields): Arrival => {
  const facts = factsIn(CheckRun, fields);
  if ("kind" in facts) return facts;
  const { action, repository, sender, check_run: run, requested_action: asked } = facts;
  const { head_sha: sha, app, external_id: externalId } = run;
  if (sha === null) return NO_COMMIT;
  const told = { repository, sender, sha, appId: app.id };
  if (action === "rerequested") {
    return { kind: "rerun", ...told, externalId: externalId === COMMIT_AS_WHOLE ? null : (externalId ?? "") };
  }
  if (action !== "requested_action" || !asked) return NOBODY;
  return { kind: "pressed", ...told, externalId: externalId ?? "", button: asked.identifier };
};

export const checkSuiteArrival = (fields: Fields): Arrival => {
  const facts = factsIn(CheckSuite, fields);
  if ("kind" in facts) return facts;
  const { action, repository, sender, check_suite: suite } = facts;
  if (action !== "rerequested") return NOBODY;
  if (suite.head_sha === null) return NO_COMMIT;
  return { kind: "rerun", repository, sender, sha: suite.head_sha, appId: suite.app.id, externalId: null };
};
