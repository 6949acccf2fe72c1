import { Build } from "../protocol/build.ts";
import { GateAnswer } from "../protocol/build-job.ts";
import { PathId } from "../protocol/common.ts";
import { buildRecord } from "./build-rows.ts";
import { actorOf } from "./core/context.ts";
import { Refusal, settled } from "./core/refusal.ts";
import { verb } from "./core/verb.ts";

/** A person's decision on a gate. The path names the job, or a build in which one gate asks. */
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
      if (!role || !token) throw new Refusal("forbidden", "Only a person decides on a gate.");
      const actor = actorOf(context);
      const comment = body.comment ?? null;
      const request = { id: params.id, approved, comment, role, name: token.name, actor };
      return buildRecord(context, settled(await pool.decideGate(request)));
    },
  });

export const approve = decision(true);
export const reject = decision(false);
