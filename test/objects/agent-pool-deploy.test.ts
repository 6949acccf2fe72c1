import { expect, it } from "vitest";
import { newBuild, poolOf, registered, value } from "./agent-pool-support.ts";

/** A call as a Worker of 0.13.0 makes it. */
const earlier = <T extends { jobId: string }>({ jobId, ...call }: T): T =>
  ({ ...call, buildId: jobId }) as unknown as T;

it("a pool understands a Worker of the release before, which names the job of a lease as a build", async () => {
  const pool = poolOf("deploy");
  const speaker = await registered(pool, "deploy");
  const { id } = value(await pool.enqueue(newBuild("deploy")));
  const grant = value(await pool.claim({ ...speaker, bootId: "b1" }));
  expect(grant).toMatchObject({ jobId: id, buildId: id });
  const { fence } = grant!;
  const holder = earlier({ ...speaker, jobId: id, fence });
  const { agentId } = speaker;
  value(await pool.deliver(earlier({ jobId: id, fence, agentId, environment: [] })));
  value(await pool.start(holder));
  expect(value(await pool.granted(holder))).toMatchObject({ jobId: id, fence });
  const steps = [
    {
      id: null,
      name: "make",
      status: "running" as const,
      exitCode: null,
      startedAt: null,
      finishedAt: null,
      logOffset: 0,
    },
  ];
  value(await pool.progress({ ...holder, steps }));
  expect(value(await pool.repeatSteps({ ...holder, steps }))).toBe(true);
  await pool.followed(earlier({ jobId: id }));
  value(await pool.flagLeak(earlier({ jobId: id, fence })));
  expect(value(await pool.finish({ ...holder, status: "succeeded", exitCode: 0 }))).toMatchObject({ leak: true });
  const stranger = earlier({ ...speaker, jobId: crypto.randomUUID(), fence });
  expect(await pool.start(stranger)).toMatchObject({ ok: false, refusal: { kind: "not-found" } });
  await pool.flush();
});
