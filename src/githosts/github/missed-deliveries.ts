import * as z from "zod/mini";
import { DAY_MS, MINUTE_MS } from "../../protocol/units.ts";
import { ask, HostNumber, order } from "../core/host-api.ts";
import { appManner } from "./app.ts";

/** Milliseconds for which GitHub delivers once more what it delivered before. */
const REDELIVERED_MS = 3 * DAY_MS;
/** Milliseconds for which one that was ordered again is on its way. */
const UNDER_WAY_MS = 10 * MINUTE_MS;
/** What nobody can mend by sending it again: it was understood, and refused. */
const REFUSED: ReadonlySet<number> = new Set([400, 401, 410, 413, 415]);
/** The events, with their actions, that are of use hours later too; all actions where none is named. */
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
/** Of these a later delivery of the same ref says all that an earlier one said. */
const OF_A_REF: ReadonlySet<string> = new Set(["push", "pull_request"]);

/** One attempt of GitHub to deliver, as it lists it. Times are milliseconds since 1970. */
export interface Attempt {
  id: number;
  /** The same over all attempts of one delivery. */
  guid: string;
  at: number;
  isOk: boolean;
  /** What was answered; 0 where nothing was. */
  code: number;
  event: string;
  action: string | null;
  repositoryId: number | null;
}

/** What is remembered of a delivery that did not arrive. */
export interface DeliveryMemory {
  guid: string;
  /** When it was delivered first. */
  firstAt: number;
  /** How often it was ordered again, and when last. */
  tries: number;
  triedAt?: number;
  /** The ref that it tells of; absent while nobody looked, null where it tells of none. */
  ref?: string | null;
  /** Nothing more is done about it. */
  isOver: boolean;
}

/** A delivery that did not arrive, with the attempt that can be ordered again. */
export interface MissedDelivery extends DeliveryMemory {
  attemptId: number;
  event: string;
  repositoryId: number | null;
  /** It was ordered a moment ago. */
  isUnderWay: boolean;
}

/** A delivery that arrived. */
export interface ArrivedDelivery {
  guid: string;
  at: number;
  repositoryId: number | null;
  ref: string | null;
}

/** The rules, each with a name: the tests replace one at a time by a wrong one. */
export const MISSED_RULES = {
  mostTries: 3,
  /** Deliveries ordered at once. */
  atOnce: 20,
  isOld: (firstAt: number, now: number): boolean => now - firstAt > REDELIVERED_MS,
  /** Whether any attempt came through, as GitHub or our own list says. */
  hasArrived: (attempts: Attempt[], isListed: boolean): boolean => isListed || attempts.some(({ isOk }) => isOk),
  /** Whether a later delivery says what this one said. */
  isSuperseded: ({ firstAt }: MissedDelivery, other: { firstAt: number }): boolean => other.firstAt > firstAt,
};

export type MissedRules = typeof MISSED_RULES;

const isWanted = ({ event, action }: Attempt): boolean => {
  const actions = Object.hasOwn(WANTED, event) ? WANTED[event] : [];
  return actions === null || (action !== null && !!actions?.includes(action));
};

/** Whether it takes the payload to know of which ref a delivery tells. */
const tellsOfRef = ({ event }: Pick<Attempt, "event">): boolean => OF_A_REF.has(event);

const firstTime = (attempts: Attempt[]): number => Math.min(...attempts.map(({ at }) => at));

/** The deliveries that did not arrive and may be ordered again, the newest first. */
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

/** What is ordered again now, the newest first; of what nothing is heard any more; and how many have to wait. */
interface Orders {
  again: MissedDelivery[];
  over: MissedDelivery[];
  left: number;
}

/**
 * Of each ref the newest delivery alone: an older one would bring an older head back. What arrived counts by the time
 * at which it was delivered first.
 * @param missed The newest first; from one on whose ref is not known, all wait.
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

/** Where the next page begins: https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api */
const readCursor = (headers: Headers): string | null => {
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
  const { value, headers } = await ask(appManner(apiUrl, jwt), request, z.array(ListedAttempt));
  return { attempts: value.map(toAttempt), next: readCursor(headers) };
};

const Payload = z.object({ ref: z.nullish(z.string()), number: z.nullish(HostNumber) });
const WholeDelivery = z.object({ request: z.object({ payload: z.nullish(Payload) }) });

/** The ref that a delivery tells of, as our list has it; null where it tells of none. @throws HostProblem */
export const refOfDelivery = async (apiUrl: string, jwt: string, id: number): Promise<string | null> => {
  const request = { method: "GET", path: `${PATH}/${id}`, right: RIGHT, isList: true } as const;
  const { ref, number } = (await ask(appManner(apiUrl, jwt), request, WholeDelivery)).value.request.payload ?? {};
  return number ? `refs/pull/${number}/head` : (ref ?? null);
};

/** Lets GitHub deliver once more. @throws HostProblem */
export const deliverAgain = (apiUrl: string, jwt: string, id: number): Promise<void> =>
  order(appManner(apiUrl, jwt), { method: "POST", path: `${PATH}/${id}/attempts`, right: RIGHT });
