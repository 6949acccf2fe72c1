import * as z from "zod/mini";
import { ask, HostNumber, order } from "../core/ask.ts";
import type { Attempt } from "../core/missed-deliveries.ts";
import { appManner } from "./app.ts";

const PATH = "/app/hook/deliveries";
const RIGHT = "the webhook of the App";
const PAGE = 100;

const Listed = z.object({
  id: HostNumber,
  guid: z.string().check(z.maxLength(100)),
  delivered_at: z.string(),
  status_code: z.int(),
  event: z.string(),
  action: z.nullish(z.string()),
  repository_id: z.nullish(HostNumber),
});

const attemptOf = (listed: z.infer<typeof Listed>): Attempt => ({
  ...{ id: listed.id, guid: listed.guid, at: Date.parse(listed.delivered_at), code: listed.status_code },
  isOk: listed.status_code >= 200 && listed.status_code < 300,
  ...{ event: listed.event, action: listed.action ?? null, repositoryId: listed.repository_id ?? null },
});

/** Where the next page begins: https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api */
const cursorOf = (headers: Headers): string | null => {
  const [, query] = /<[^>]*\?([^>]*)>;\s*rel="next"/.exec(headers.get("Link")?.slice(0, 2000) ?? "") ?? [];
  return query === undefined ? null : new URLSearchParams(query).get("cursor");
};

/** A page of the attempts that failed, the newest first. @param jwt Of the App. @throws HostProblem */
export const failedAttempts = async (
  apiUrl: string,
  jwt: string,
  cursor: string | null,
): Promise<{ attempts: Attempt[]; next: string | null }> => {
  const more = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
  const path = `${PATH}?status=failure&per_page=${PAGE}${more}`;
  const request = { method: "GET", path, right: RIGHT, isList: true } as const;
  const { value, headers } = await ask(appManner(apiUrl, jwt), request, z.array(Listed));
  return { attempts: value.map(attemptOf), next: cursorOf(headers) };
};

const Payload = z.object({ ref: z.nullish(z.string()), number: z.nullish(HostNumber) });
const Whole = z.object({ request: z.object({ payload: z.nullish(Payload) }) });

/** The ref that a delivery tells of, as our list has it; null where it tells of none. @throws HostProblem */
export const refOfDelivery = async (apiUrl: string, jwt: string, id: number): Promise<string | null> => {
  const request = { method: "GET", path: `${PATH}/${id}`, right: RIGHT, isList: true } as const;
  const { ref, number } = (await ask(appManner(apiUrl, jwt), request, Whole)).value.request.payload ?? {};
  return number ? `refs/pull/${number}/head` : (ref ?? null);
};

/** Lets GitHub deliver once more. @throws HostProblem */
export const deliverAgain = (apiUrl: string, jwt: string, id: number): Promise<void> =>
  order(appManner(apiUrl, jwt), { method: "POST", path: `${PATH}/${id}/attempts`, right: RIGHT });
