import { Build, type Step } from "../protocol/build.ts";
import { PathId } from "../protocol/common.ts";
import { Finish, Heartbeat, Progress, Release } from "../protocol/jobs.ts";
import { LIMITS } from "../protocol/limits.ts";
import { answered } from "./builds.ts";
import type { Context } from "./core/context.ts";
import { invalid, Refusal, settled } from "./core/refusal.ts";
import { verb } from "./core/verb.ts";

/**
 * What an agent says about the lease it names. The pool tells by its token who it is, and whether it is any more.
 * @throws Refusal where an agent is not what calls, or it names no lease
 */
export const holderOf = async (context: Context, buildId: string) => {
  const { kind, tokenHash } = context.caller;
  if (kind !== "agent") {
    await context.admit();
    throw new Refusal("forbidden", "This needs an agent's own token.");
  }
  if (context.lease === null) throw invalid("X-Lease", "this header must name the lease");
  return { tokenHash, buildId, fence: context.lease };
};

export const startBuild = verb({
  access: { agent: true },
  params: PathId,
  output: Build,
  async run(context, { params }) {
    const holder = await holderOf(context, params.id);
    return answered(context, settled(await context.poolOf(context.orgId).start(holder)));
  },
});

/** Texts of an agent, with every secret of its build masked as the log's are. */
const masked = async (context: Context, buildId: string, fence: number, texts: string[]): Promise<string[]> => {
  if (texts.length === 0) return [];
  const { tokenHash } = context.caller;
  return settled(await context.logOf(buildId).maskTexts({ fence, tokenHash, texts }));
};

/** A step in the words that are kept of it: masked, and cut to what the build's record has room for. */
const wordedStep = (step: Step, name = "", id = ""): Step => {
  const cut = (text: string): string => text.slice(0, LIMITS.stepNameCharacters).toWellFormed();
  return { ...step, name: cut(name), id: step.id === null ? null : cut(id) };
};

export const reportProgress = verb({
  access: { agent: true },
  params: PathId,
  body: Progress,
  async run(context, { params, body }) {
    await context.admit();
    const holder = await holderOf(context, params.id);
    const { buildId, fence, tokenHash } = holder;
    if (body.masks?.length) settled(await context.logOf(buildId).addMasks({ fence, tokenHash, values: body.masks }));
    const told = body.steps?.slice(0, LIMITS.steps) ?? [];
    const words = told.flatMap(({ id, name }) => [name, id ?? ""]);
    const texts = await masked(context, buildId, fence, [
      ...words,
      ...(body.summary === undefined ? [] : [body.summary]),
    ]);
    const steps = body.steps && told.map((step, index) => wordedStep(step, texts[2 * index], texts[2 * index + 1]));
    const summary = body.summary === undefined ? undefined : texts.at(-1);
    settled(await context.poolOf(context.orgId).progress({ ...holder, commitSha: body.commitSha, steps, summary }));
  },
});

export const releaseBuild = verb({
  access: { agent: true },
  params: PathId,
  body: Release,
  output: Build,
  async run(context, { params, body }) {
    const holder = await holderOf(context, params.id);
    const { requires, elsewhere, interrupted } = body;
    const [reason = ""] = await masked(context, params.id, holder.fence, [body.reason]);
    const pool = context.poolOf(context.orgId);
    return answered(context, settled(await pool.release({ ...holder, reason, requires, elsewhere, interrupted })));
  },
});

export const finishBuild = verb({
  access: { agent: true },
  params: PathId,
  body: Finish,
  output: Build,
  async run(context, { params, body }) {
    const holder = await holderOf(context, params.id);
    const { status, exitCode = null, reason = null } = body;
    const texts = body.message ? await masked(context, params.id, holder.fence, [body.message]) : [];
    const message = texts[0] ?? null;
    const build = settled(await context.poolOf(context.orgId).finish({ ...holder, status, exitCode, reason, message }));
    // The pool sees to it in any case, a second later: whoever follows the log need not wait for that.
    context.later(context.logOf(params.id).close({ fence: holder.fence }));
    return answered(context, build);
  },
});

export const heartbeat = verb({
  access: { agent: true },
  params: PathId,
  output: Heartbeat,
  async run(context, { params }) {
    const { tokenHash, kind } = context.caller;
    if (kind !== "agent") await context.admit();
    const beat = { agentId: params.id, tokenHash, bootId: context.bootId, fence: context.lease };
    const answer = await context.poolOf(context.orgId).heartbeat(beat);
    if (!answer.ok && answer.refusal.kind === "unauthenticated") await refuseForeignPath(context, params.id);
    return settled(answer);
  },
});

/** Tells an agent on another's path (403) from a token that is none any more (401). */
export const refuseForeignPath = async (context: Context, agentId: string): Promise<void> => {
  const admitted = await context.admit();
  if (admitted.agentId !== agentId) throw new Refusal("forbidden", "An agent may call its own path only.");
};
