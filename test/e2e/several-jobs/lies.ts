import { expect, it } from "vitest";
import type { Job } from "../../../src/protocol/jobs.ts";
import { FEATURES, FEATURES_HEADER, LEASE_HEADER } from "../../../src/protocol/jobs.ts";
import { Project, type Run, type Stage } from "./stage.ts";

const HONEST = `jobs:
  test:
    steps: [{ run: 'echo honest >> "$HERE/ran"' }]
`;
const FORGED = `jobs:
  test:
    steps: [{ run: 'echo forged >> "$HERE/ran"' }]
  more:
    checkout: false
    steps: [{ run: 'env >> "$HERE/ran"' }]
`;

const INCLUDED = "ci/setup.yml";
const INCLUDING = `jobs:
  phone:
    requires: { ios: true }
    steps: [{ include: ./${INCLUDED}, with: { device: phone } }]
  page:
    requires: { web: true }
    steps: [{ include: ./${INCLUDED}, with: { device: page } }]
`;
const setUp = (word: string) => `inputs:
  device: { type: choice, options: [phone, page] }
steps:
  - run: echo "${word} \${{ inputs.device }}" >> "$HERE/ran"
`;

/** An agent whose calls come from the test. */
class Liar {
  readonly id: string;
  readonly #stage: Stage;
  readonly #token: string;

  private constructor(stage: Stage, id: string, token: string) {
    this.#stage = stage;
    this.id = id;
    this.#token = token;
  }

  static async register(stage: Stage): Promise<Liar> {
    const skills = { platform: 2, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: true };
    const { id, token } = await stage.client.call<{ id: string; token: string }>("POST", "/buildagent/register", {
      ...{ name: "liar", ...skills },
    });
    return new Liar(stage, id, token);
  }

  async #call(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Response> {
    return fetch(this.#stage.client.url + path, {
      method,
      headers: {
        ...{ Authorization: `Bearer ${this.#token}`, "Content-Type": "application/json", "X-Boot-Id": "liar" },
        ...{ [FEATURES_HEADER]: FEATURES.join(), ...headers },
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  }

  /** Takes a build to plan while the real agents are draining, and starts it. */
  async take(
    app: Project,
  ): Promise<{ run: Run; plan(commitSha: string, text: string, more?: object): Promise<Response> }> {
    const { client, mac, android, web } = this.#stage;
    const drain = (isDraining: boolean) =>
      Promise.all([mac, android, web].map(({ id }) => client.call("PUT", `/buildagent/${id}`, { isDraining })));
    await drain(true);
    const run = await app.trigger();
    const poll = await this.#call("GET", `/buildagent/${this.id}/poll?wait=20`, undefined, {});
    const job = (await poll.json()) as Job;
    const lease = { [LEASE_HEADER]: String(job.lease) };
    await this.#call("POST", `/build/${run.id}/start`, undefined, lease);
    await drain(false);
    const plan = (commitSha: string, text: string, more = {}) =>
      this.#call("PUT", `/build/${run.id}/plan`, { commitSha, path: ".millrace.yml", text, ...more }, lease);
    return { run, plan };
  }

  async leave(): Promise<void> {
    await this.#stage.client.call("DELETE", `/buildagent/${this.id}`);
  }
}

/** Tests a planner that reports contents that the commit lacks. */
export const lies = (stage: Stage): void => {
  it("runs nothing from a file that is not in the commit", async () => {
    const app = await Project.connect(stage, HONEST);
    const liar = await Liar.register(stage);
    const { run, plan } = await liar.take(app);
    const answer = await plan(app.git.git("rev-parse", "HEAD"), FORGED);
    expect(answer.status, await answer.clone().text()).toBe(200);
    await liar.leave();
    const { by, ...build } = await run.end();
    expect(build).toMatchObject({ status: "failed", reason: "plan-mismatch" });
    for (const key of ["test", "more"]) {
      expect(by[key]).toMatchObject({ status: "failed", reason: "plan-mismatch" });
      expect(await run.logOf(key)).toContain("nothing ran");
    }
    expect(app.lines("ran")).toEqual([]);
  });

  it("runs an included file on two machines, and nothing from one that is not in the commit", async () => {
    const app = await Project.connect(stage, INCLUDING);
    app.add(INCLUDED, setUp("honest"));
    const { by, ...build } = await (await app.trigger()).end();
    expect(build, build.message ?? "").toMatchObject({ status: "succeeded" });
    expect(by.phone?.agentId).toBe(stage.mac.id);
    expect(by.page?.agentId).toBe(stage.web.id);
    expect(app.lines("ran").sort()).toEqual(["honest page", "honest phone"]);

    const liar = await Liar.register(stage);
    const { run, plan } = await liar.take(app);
    const includes = [{ path: INCLUDED, text: setUp("forged") }];
    const answer = await plan(app.git.git("rev-parse", "HEAD"), INCLUDING, { includes });
    expect(answer.status, await answer.clone().text()).toBe(200);
    await liar.leave();
    const forged = await run.end();
    expect(forged).toMatchObject({ status: "failed", reason: "plan-mismatch" });
    for (const key of ["phone", "page"]) expect(await run.logOf(key)).toContain("nothing ran");
    expect(app.lines("ran")).toHaveLength(2);
  });

  it("runs nothing from a commit that is not on its branch", async () => {
    const app = await Project.connect(stage, HONEST);
    const elsewhere = app.commit("evil", FORGED);
    app.git.git("checkout", "--quiet", "main");
    const liar = await Liar.register(stage);
    const { run, plan } = await liar.take(app);
    await plan(elsewhere, FORGED);
    await liar.leave();
    const { by, ...build } = await run.end();
    expect(build).toMatchObject({ status: "failed" });
    for (const key of ["test", "more"]) {
      expect(by[key]).toMatchObject({ status: "failed", reason: "commit-not-on-branch" });
    }
    expect(app.lines("ran")).toEqual([]);
  });
};
