import { Build } from "../../protocol/build.ts";
import { GateAnswer } from "../../protocol/build-job.ts";
import { PathId } from "../../protocol/common.ts";
import { findJob } from "../builds/build-jobs.ts";
import { buildRecord } from "../builds/build-view.ts";
import { findRecord } from "../builds/builds.ts";
import { actorOf, type Context } from "../core/context.ts";
import { nullIfNotFound, Refusal, settled } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";

/**
 * Rejects a decision on a job that the pool has dropped or never queued.
 * @throws Refusal not-found or conflict, always
 */
const refuseEnded = async (context: Context, id: string): Promise<never> => {
  (await nullIfNotFound(findJob(context, id))) ?? (await findRecord(context, id));
  throw new Refusal("conflict", "The build or job has already ended.");
};

/** Creates a verb for a person's decision on a gate. The path names the job, or a build that has one waiting gate. */
const decision = (approved: boolean) =>
  verb({
    access: { role: "member" },
    params: PathId,
    body: GateAnswer,
    mayLackBody: true,
    output: Build,
    async run(context, { params, body }) {
      const pool = await context.pool();
      const { role, token } = context.admitted;
      if (!role || !token) throw new Refusal("forbidden", "Only a person can approve or reject a gate.");
      const actor = actorOf(context);
      const comment = body.comment ?? null;
      const { commitSha = null } = body;
      const request = { id: params.id, approved, comment, role, name: token.name, commitSha, actor };
      const decided = await pool.decideGate(request);
      if (!decided.ok && decided.refusal.kind === "not-found") return refuseEnded(context, params.id);
      return buildRecord(context, settled(decided));
    },
  });

export const approve = decision(true);
export const reject = decision(false);
