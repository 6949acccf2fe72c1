import { refOf } from "../../src/domain/git-ref.ts";
import type { PoolState } from "../../src/queue/state/state.ts";
import { CLEANING_MS } from "./job-specification.ts";
import type { AnyInput, Call, CheckContext, HeardHead } from "./observations.ts";
import type { Push, SimArriving } from "./repository.ts";
import { HEARD_MS } from "./specification.ts";
import { must } from "./violation.ts";

/** Compares the result of a delivery with the real events at the host, and with those that the pool received. */
export const checkArrival = (context: CheckContext, state: PoolState, value: AnyInput, call: Call): void => {
  const { input, now } = call;
  const { observed } = context;
  const name = `${input.connectionId} ${input.deliveryId}`;
  const known = observed.deliveries.get(name);
  const text = JSON.stringify([value.builds, value.canceled]);
  if (known && now < known.at + HEARD_MS) {
    must(19, value.isRepeat && known.text === text, "a repeated delivery got another answer");
    must(19, !call.audits.some((audit) => audit.startsWith("build.create")), "a repeated delivery created a build");
    return;
  }
  must(19, !value.isRepeat, "a partly rejected delivery counts as known");
  for (const { pipelineId, ref } of input.ended) observed.heads.delete(`${pipelineId} ${ref}`);
  (input.builds as SimArriving[]).forEach((asked, index) => {
    // Only a simulated host knows the real events.
    if (!asked.push) return;
    const { outcome, buildId } = value.builds[index];
    const key = `${asked.pipelineId} ${asked.push.ref}`;
    const heard = (observed.heads.get(key) ?? []).filter(({ at }) => now < at + HEARD_MS);
    observed.heads.set(key, heard);
    CHECKS[outcome]?.(heard, asked, buildId, now);
  });
  if (value.builds.every(({ outcome }: AnyInput) => outcome !== "refused"))
    observed.deliveries.set(name, { at: now, text });
  for (const id of value.canceled) checkCanceled(context, state, id, input);
};

/** Reports whether the ref never went back to an earlier commit. Otherwise the arriving push may be ambiguous. */
const isStraight = (history: readonly Push[], life: number): boolean => {
  const shas = history.flatMap((push) => (push.life === life ? [push.sha] : []));
  return new Set(shas).size === shas.length;
};

const isPlain = ({ push, history }: SimArriving): boolean => isStraight(history, push.life);

const isOf = (head: HeardHead, { life, index }: Push): boolean => head.life === life && head.indices.includes(index);

const learn = (head: HeardHead, { push, origin }: SimArriving): void => {
  head.before ??= origin.before;
  if (head.life === push.life && !head.indices.includes(push.index)) head.indices.push(push.index);
};

/** By the pool's answer about a build. A build that the queue rejected is not checked. */
const CHECKS: Record<string, (heard: HeardHead[], asked: SimArriving, buildId: string, at: number) => void> = {
  made: (heard, asked, buildId, at) => {
    const { push, origin } = asked;
    if (isPlain(asked)) {
      must(19, !heard.some((head) => head.buildId && isOf(head, push)), "a push created two builds");
      const since = heard.findLastIndex((head) => head.sha === origin.before);
      const isReplaced = heard.some(({ life, before }, at) => life === push.life && before === push.sha && since < at);
      must(19, !isReplaced, "a build was created although its head had been replaced");
    }
    heard.push({ life: push.life, indices: [push.index], sha: push.sha, before: origin.before, buildId, at });
  },
  same: (heard, asked, buildId) => {
    const { push, origin } = asked;
    const head = heard.find((one) => one.buildId === buildId);
    // A repeat of exactly this build, whose delivery was rejected, after its branch was deleted.
    if (head === undefined && asked.id === buildId) return;
    must(19, head !== undefined && head.sha === push.sha, "a push was confused with another commit's push");
    const isUnclear = head.before === null || origin.before === null;
    must(
      19,
      isUnclear || isOf(head, push) || head.before === origin.before,
      "a push back to a commit created no build",
    );
    learn(head, asked);
  },
  late: (heard, asked, _buildId, at) => {
    const { push, origin } = asked;
    const isReplaced = heard.some(({ life, indices }) => life === push.life && Math.max(...indices) > push.index);
    must(19, isReplaced || !isPlain(asked), "the newest known head triggered no build");
    const head = heard.find((one) => isOf(one, push));
    if (head) learn(head, asked);
    else if (origin.before !== null)
      heard.push({ life: push.life, indices: [push.index], sha: push.sha, before: origin.before, buildId: null, at });
  },
};

const checkCanceled = (context: CheckContext, state: PoolState, id: string, input: AnyInput): void => {
  const { observed, storage } = context;
  const { status, supersededBy, pipelineId, branch, origin } = storage.rows.builds.get(id)!;
  observed.builds.get(id)!.cancel ??= { at: context.call.now, until: context.call.now + CLEANING_MS };
  must(10, status === (state.builds.has(id) ? "canceling" : "canceled"), `after a cancel the build is ${status}`);
  must(20, !!origin, "a delivery ended a build that no delivery created");
  const asked = input.builds.find((one: SimArriving) => one.pipelineId === pipelineId);
  if (!supersededBy || (asked && !asked.push)) return;
  must(20, asked?.supersedes, "a build was superseded although its pipeline forbids it");
  const heard = observed.heads.get(`${pipelineId} ${refOf(branch)}`) ?? [];
  const [newest, older] = [supersededBy, id].map((buildId) => heard.find((head) => head.buildId === buildId));
  must(20, newest !== undefined && older !== undefined, "a build was superseded by another ref's build");
  const isOlder = older.life === newest.life && Math.max(...older.indices) < Math.min(...newest.indices);
  must(20, isOlder || !isStraight(asked.history, newest.life), "an older head ended a newer head's build");
};

/** If every push of a ref arrived, its head has a build that no other replaced. */
export const checkHead = (
  { observed, storage }: Pick<CheckContext, "observed" | "storage">,
  head: Push,
  history: readonly Push[],
): void => {
  if (!isStraight(history, head.life)) return;
  for (const [key, heard] of observed.heads) {
    const pipelineId = key.slice(0, key.indexOf(" "));
    const own = heard.filter((one) => key === `${pipelineId} ${head.ref}` && isOf(one, head));
    const builds = own.flatMap(({ buildId }) => (buildId ? [storage.rows.builds.get(buildId)] : []));
    const isLive = builds.some((build) => !build?.supersededBy);
    must(20, own.length === 0 || isLive, `the build of the newest head of ${head.ref} was superseded`);
  }
};
