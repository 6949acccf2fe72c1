import * as z from "zod/mini";
import { DAY_MS, MINUTE_MS } from "../../protocol/units.ts";
import { ask, HostNumber, order } from "../core/host-api.ts";
import { appManner } from "./app.ts";

/** Milliseconds for which GitHub can redeliver. */
const REDELIVERED_MS = 3 * DAY_MS;
/** Milliseconds for which a requested redelivery counts as under way. */
const UNDER_WAY_MS = 10 * MINUTE_MS;
/** Statuses of answers that a redelivery cannot change, because the service understood and rejected the delivery. */
const REFUSED: ReadonlySet<number> = new Set([400, 401, 410, 413, 415]);
/** The events, with their actions, that are useful even hours later. Null means all actions. */
const WANTED: Record<string, readonly string[] | null> = {
  push: null,
  pull_request: null,
  merge_group: null,
  installation: null,
  installation_repositories: null,
  repository: ["renamed", "transferred", "edited"],
  check_run: ["rerequested", "requested_action"],
  check_suite: ["rerequested"],
};
/** For these events, a later delivery of the same ref contains all facts of an earlier delivery. */
const OF_A_REF: ReadonlySet<string> = new Set(["push", "pull_request"]);

/** One of GitHub's attempts to deliver, from its list. Times are milliseconds since 1970. */
export interface Attempt {
  id: number;
  /** The delivery's id, which is the same for all its attempts. */
  guid: string;
  at: number;
  isOk: boolean;
  /** The status of the answer; 0 without an answer. */
  code: number;
  event: string;
  action: string | null;
  repositoryId: number | null;
}

/** The record of a delivery that did not arrive. */
export interface DeliveryMemory {
  guid: string;
  /** When GitHub first tried to deliver it. */
  firstAt: number;
  /** The number of requested redeliveries, and the time of the last request. */
  tries: number;
  triedAt?: number;
  /** The delivery's ref. Absent until the service checks it, and null if the delivery concerns no ref. */
  ref?: string | null;
  /** Whether the service does nothing more about the delivery. */
  isOver: boolean;
}

/** A delivery that did not arrive, with the attempt to redeliver. */
export interface MissedDelivery extends DeliveryMemory {
  attemptId: number;
  event: string;
  repositoryId: number | null;
  /** Whether the service requested a redelivery a moment ago. */
  isUnderWay: boolean;
}

/** A delivery that arrived. */
export interface ArrivedDelivery {
  guid: string;
  at: number;
  repositoryId: number | null;
  ref: string | null;
}

/** The rules, each with a name. The tests replace one rule at a time with a wrong rule. */
export const MISSED_RULES = {
  mostTries: 3,
  /** Maximum redeliveries to request at once. */
  atOnce: 20,
  isOld: (firstAt: number, now: number): boolean => now - firstAt > REDELIVERED_MS,
  /** Whether any attempt arrived, according to GitHub or our own list. */
  hasArrived: (attempts: Attempt[], isListed: boolean): boolean => isListed || attempts.some(({ isOk }) => isOk),
  /** Whether a later delivery contains the facts of this one. */
  isSuperseded: ({ firstAt }: MissedDelivery, other: { firstAt: number }): boolean => other.firstAt > firstAt,
};

export type MissedRules = typeof MISSED_RULES;

const isWanted = ({ event, action }: Attempt): boolean => {
  const actions = Object.hasOwn(WANTED, event) ? WANTED[event] : [];
  return actions === null || (action !== null && !!actions?.includes(action));
};

/** Reports whether only the payload says which ref a delivery concerns. */
const tellsOfRef = ({ event }: Pick<Attempt, "event">): boolean => OF_A_REF.has(event);

const firstTime = (attempts: Attempt[]): number => Math.min(...attempts.map(({ at }) => at));

/** Returns the deliveries that did not arrive and may be redelivered, newest first. */
export const findMissed = (
  listed: Attempt[],
  memory: ReadonlyMap<string, DeliveryMemory>,
  arrived: ArrivedDelivery[],
  now: number,
  rules: MissedRules,
): MissedDelivery[] => {
  const arrivedIds = new Set(arrived.map(({ guid }) => guid));
  const byGuid = Map.groupBy(listed.filter(isWanted), ({ guid }) => guid);
  return [...byGuid]
    .flatMap(([guid, attempts]): MissedDelivery[] => {
      const last = attempts.reduce((latest, one) => (one.at > latest.at ? one : latest));
      const before = memory.get(guid);
      const { tries = 0, triedAt = Number.NEGATIVE_INFINITY, isOver = false } = before ?? {};
      const firstAt = Math.min(before?.firstAt ?? Number.POSITIVE_INFINITY, firstTime(attempts));
      const isHopeless = REFUSED.has(last.code) || rules.isOld(firstAt, now) || tries >= rules.mostTries;
      if (isOver || isHopeless || rules.hasArrived(attempts, arrivedIds.has(guid))) return [];
      const ref = tellsOfRef(last) ? before?.ref : null;
      const { id, event, repositoryId } = last;
      return [
        {
          guid,
          firstAt,
          tries,
          ref,
          isOver,
          attemptId: id,
          event,
          repositoryId,
          isUnderWay: now - triedAt < UNDER_WAY_MS,
        },
      ];
    })
    .toSorted((one, other) => other.firstAt - one.firstAt);
};

const subjectOf = ({ repositoryId, ref }: Pick<MissedDelivery, "repositoryId" | "ref">): string =>
  `${repositoryId} ${ref}`;

/**
 * The deliveries to redeliver now, newest first; the deliveries to abandon; and the number of deliveries that must
 * wait.
 */
interface Orders {
  again: MissedDelivery[];
  over: MissedDelivery[];
  left: number;
}

/**
 * Chooses only the newest delivery of each ref, because an older delivery would restore an older head. A delivery that
 * arrived counts by the time of its first attempt.
 * @param missed The missed deliveries, newest first. From the first one with an unknown ref on, all wait.
 */
export const chooseOrders = (
  missed: MissedDelivery[],
  listed: Attempt[],
  arrived: ArrivedDelivery[],
  rules: MissedRules,
): Orders => {
  const listedAt = new Map(
    [...Map.groupBy(listed, ({ guid }) => guid)].map(([guid, attempts]) => [guid, firstTime(attempts)]),
  );
  const others = [
    ...arrived.map((one) => ({ ...one, firstAt: listedAt.get(one.guid) ?? one.at })),
    ...missed.map(({ guid, firstAt, repositoryId, ref }) => ({ guid, firstAt, repositoryId, ref })),
  ].filter(({ ref }) => !!ref);
  const bySubject = Map.groupBy(others, subjectOf);
  const isOld = (one: MissedDelivery) =>
    !!one.ref && (bySubject.get(subjectOf(one)) ?? []).some((other) => rules.isSuperseded(one, other));
  const unknown = missed.findIndex(({ ref }) => ref === undefined);
  const decidable = unknown < 0 ? missed : missed.slice(0, unknown);
  const due = decidable.filter((one) => !isOld(one) && !one.isUnderWay);
  return {
    again: due.slice(0, rules.atOnce),
    over: decidable.filter(isOld),
    left: missed.length - decidable.length + Math.max(0, due.length - rules.atOnce),
  };
};

const PATH = "/app/hook/deliveries";
const RIGHT = "the webhook of the App";
const PAGE = 100;

const ListedAttempt = z.object({
  id: HostNumber,
  guid: z.string().check(z.maxLength(100)),
  delivered_at: z.string(),
  status_code: z.int(),
  event: z.string(),
  action: z.nullish(z.string()),
  repository_id: z.nullish(HostNumber),
});

const toAttempt = (listed: z.infer<typeof ListedAttempt>): Attempt => ({
  id: listed.id,
  guid: listed.guid,
  at: Date.parse(listed.delivered_at),
  code: listed.status_code,
  isOk: listed.status_code >= 200 && listed.status_code < 300,
  event: listed.event,
  action: listed.action ?? null,
  repositoryId: listed.repository_id ?? null,
});

/**
 * Returns where the next page begins:
 * https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
 */
const readCursor = (headers: Headers): string | null => {
  const [, query] = /<[^>]*\?([^>]*)>;\s*rel="next"/.exec(headers.get("Link")?.slice(0, 2000) ?? "") ?? [];
  return query === undefined ? null : new URLSearchParams(query).get("cursor");
};

/** Returns a page of the failed attempts, newest first. @param jwt The App's JWT. @throws HostProblem */
export const failedAttempts = async (
  apiUrl: string,
  jwt: string,
  cursor: string | null,
): Promise<{ attempts: Attempt[]; next: string | null }> => {
  const more = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
  const path = `${PATH}?status=failure&per_page=${PAGE}${more}`;
  const request = { method: "GET", path, right: RIGHT, isList: true } as const;
  const { value, headers } = await ask(appManner(apiUrl, jwt), request, z.array(ListedAttempt));
  return { attempts: value.map(toAttempt), next: readCursor(headers) };
};

const Payload = z.object({ ref: z.nullish(z.string()), number: z.nullish(HostNumber) });
const WholeDelivery = z.object({ request: z.object({ payload: z.nullish(Payload) }) });

/** Returns the ref of a delivery, in the form of our list; null if it concerns no ref. @throws HostProblem */
export const refOfDelivery = async (apiUrl: string, jwt: string, id: number): Promise<string | null> => {
  const request = { method: "GET", path: `${PATH}/${id}`, right: RIGHT, isList: true } as const;
  const { ref, number } = (await ask(appManner(apiUrl, jwt), request, WholeDelivery)).value.request.payload ?? {};
  return number ? `refs/pull/${number}/head` : (ref ?? null);
};

/** Has GitHub redeliver. @throws HostProblem */
export const deliverAgain = (apiUrl: string, jwt: string, id: number): Promise<void> =>
  order(appManner(apiUrl, jwt), { method: "POST", path: `${PATH}/${id}/attempts`, right: RIGHT });
