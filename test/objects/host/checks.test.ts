import { env, evictDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it } from "vitest";
import type { HostReport } from "../../../src/githosts/core/host-report.ts";
import { installedApp } from "./app-support.ts";
import { reportOf, SHA, setClockRight } from "./support.ts";

afterEach(setClockRight);

const queued = (over: Partial<HostReport> = {}) => reportOf({ phase: "queued", ...over });
const runs = (over: Partial<HostReport> = {}) =>
  reportOf({ version: 2, phase: "running", description: "Runs", ...over });
const ended = (over: Partial<HostReport> = {}) =>
  reportOf({ version: 9, state: "success", description: "Succeeded in 3 s", ...over });
const asks = (over: Partial<HostReport> = {}) => {
  const asked = [{ index: 3, name: "deploy-to-production" }];
  const description = "deploy-to-production waits for approval";
  return reportOf({ version: 4, state: "success", phase: "asking", asks: asked, description, ...over });
};

const BUILD = "millrace/test";
const words = (bodies: Record<string, unknown>[] = []) => bodies.map(({ status, conclusion }) => conclusion ?? status);

const furnished = async (over: Parameters<typeof installedApp>[0] = {}) => {
  const app = await installedApp(over);
  const tell = async (report: HostReport) => {
    const answer = await app.host.report([report]);
    await app.later();
    return answer;
  };
  const of = async (name: string, buildId?: string) =>
    (await app.runs()).filter(
      ({ body }) => body.name === name && (buildId === undefined || body.external_id === buildId),
    );
  return { ...app, tell, of };
};

describe("the check runs of a GitHub App", () => {
  it("are created once for a build and updated as it progresses, as GitHub's own description requires", async () => {
    const { tell, of, at } = await furnished();
    expect(await tell(queued())).toEqual({ hearsPhases: true });
    await tell(runs());
    await tell(ended());
    const [build, ...more] = await of(BUILD, "build-1");
    expect(more).toEqual([]);
    expect(words(build?.bodies)).toEqual(["queued", "in_progress", "success"]);
    expect(build).toMatchObject({ sha: SHA, body: { details_url: "https://ci.example/app/builds/build-1" } });
    expect(build?.body.output).toEqual({ title: "Succeeded in 3 s", summary: "Succeeded in 3 s" });
    const whole = await of("millrace", "commit");
    expect(whole.map(({ bodies }) => words(bodies))).toEqual([["success"]]);
    const { requests, statuses } = await at.seen();
    expect(requests.flatMap(({ problems }) => problems)).toEqual([]);
    expect(statuses).toEqual([]);
  });

  it.each<[over: Partial<HostReport>, conclusion: string, whole: string]>([
    [{ state: "failure" }, "failure", "failure"],
    [{ state: "failure", ended: "timed-out" }, "timed_out", "failure"],
    [{ state: "error" }, "failure", "failure"],
    [{ state: "error", ended: "canceled" }, "cancelled", "failure"],
    [{ state: "success", ended: "skipped" }, "skipped", "neutral"],
  ])("end as the build does: %j is %s", async (over, conclusion, whole) => {
    const { tell, of } = await furnished();
    await tell(ended(over));
    expect(words((await of(BUILD))[0]?.bodies)).toEqual([conclusion]);
    expect(words((await of("millrace"))[0]?.bodies)).toEqual([whole]);
  });

  it("have a button for each open gate, and continue after the decision", async () => {
    const { tell, of } = await furnished();
    await tell(runs());
    await tell(asks());
    const [asking] = await of(BUILD);
    expect(asking?.body).toMatchObject({
      ...{ status: "completed", conclusion: "action_required" },
      actions: [{ label: "Approve", description: "Let deploy-to-production run", identifier: "approve:3" }],
    });
    await tell(runs({ version: 5 }));
    await tell(ended());
    const [build, ...more] = await of(BUILD);
    expect(more).toEqual([]);
    expect(words(build?.bodies)).toEqual(["in_progress", "action_required", "in_progress", "success"]);
    expect(build?.body.actions).toEqual([]);
  });

  it("have at most three buttons, with at most as many characters as GitHub accepts", async () => {
    const { tell, of } = await furnished();
    const asked = ["a", "b".repeat(60), "c", "d"].map((name, index) => ({ name, index }));
    await tell(asks({ asks: asked, state: "pending" }));
    expect((await of(BUILD))[0]?.body.actions).toHaveLength(3);
  });

  it("are new for a retry of a build", async () => {
    const { tell, of } = await furnished();
    await tell(ended({ state: "failure" }));
    await tell(runs({ buildId: "build-2", number: 2 }));
    await tell(ended({ buildId: "build-2", number: 2 }));
    expect((await of(BUILD)).map(({ body }) => body.external_id)).toEqual(["build-1", "build-2"]);
    const [whole, ...more] = await of("millrace");
    expect(more).toEqual([]);
    expect(words(whole?.bodies)).toEqual(["failure", "in_progress", "success"]);
  });

  it("are found again after a lost answer, even if the object lost its memory", async () => {
    const { tell, of, at, host, later } = await furnished();
    await at.change({ loses: 1 });
    await tell(queued());
    expect(await of(BUILD)).toHaveLength(1);
    await evictDurableObject(host);
    await host.report([ended()]);
    for (let n = 0; n < 4; n++) await later(60_000);
    const [build, ...more] = await of(BUILD);
    expect(more).toEqual([]);
    expect(words(build?.bodies).at(-1)).toBe("success");
  });

  it("are not requested again if GitHub rejects them", async () => {
    const { tell, of, at, later } = await furnished();
    await at.change({ faults: [{ on: "POST /repos/acme/shop/check-runs", answer: 422, times: 1 }] });
    await tell(ended());
    await later(60_000);
    expect(await of(BUILD)).toEqual([]);
    expect(await of("millrace")).toHaveLength(1);
  });

  it("stay statuses to the end if the host got statuses before the App existed", async () => {
    const { tell, of, at, host, id } = await furnished({ isInstalled: false });
    await tell(runs());
    await env.DB.prepare("UPDATE connection SET installation_id = '99' WHERE id = ?").bind(id).run();
    await host.connectionChanged();
    await tell(ended());
    await tell(ended({ sha: "6".repeat(40) }));
    const { statuses } = await at.seen();
    expect(statuses.map(({ body }) => `${body.context} ${body.state}`)).toEqual([
      `${BUILD} pending`,
      `${BUILD} success`,
    ]);
    expect((await of("millrace")).map(({ sha }) => sha)).toEqual([SHA, "6".repeat(40)]);
    expect((await of(BUILD)).map(({ sha }) => sha)).toEqual(["6".repeat(40)]);
  });
});
