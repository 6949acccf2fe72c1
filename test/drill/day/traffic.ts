import type { Client } from "../../../src/local/client.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import type { Repository } from "../../../src/protocol/repository.ts";
import type { KeepAliveClient, RequestOptions } from "../../bench/support/keep-alive.ts";
import { inParallel } from "../../bench/support/waiters.ts";
import type { Random } from "../../simulate/random.ts";
import type { Clockwork } from "./clockwork.ts";
import type { DayHost } from "./hosted.ts";
import { type DayPlan, SECOND, timesOf } from "./plan.ts";

const AGAIN_MS = 30 * SECOND;
const DEFINITION = "steps:\n  - run: echo\n";

interface Street {
  plan: DayPlan;
  midnight: number;
  clock: Clockwork;
  http: KeepAliveClient;
  random: Random;
}

const count = (tally: Record<string, number>, what: string): void => {
  tally[what] = (tally[what] ?? 0) + 1;
};

/** The requests that people, a git host and a script in a loop send on a day. */
export class Traffic {
  /** Builds that people requested until the service created them, and the lists' answers. */
  readonly people = { asked: 0, made: [] as string[], pages: {} as Record<string, number> };
  readonly loop = { asked: 0, made: 0, refused: {} as Record<string, number> };
  readonly #street: Street;

  constructor(street: Street) {
    this.#street = street;
  }

  /** Does the work at a time of the day. */
  at(time: number, work: () => Promise<unknown>): void {
    const { clock, midnight } = this.#street;
    void clock.until(midnight + time).then(work);
  }

  ask(method: string, path: string, options: RequestOptions = {}): Promise<{ status: number; text: string }> {
    const { clock, http } = this.#street;
    const gone = (error: unknown) => ({ status: 599, text: String(error) });
    return clock.ask(http.send(method, path, options).catch(gone));
  }

  #times(of: number): number[] {
    return timesOf(this.#street.plan, of, () => this.#street.random.next());
  }

  startPushes(host: DayHost): void {
    const { plan, random, clock } = this.#street;
    const [monorepo, ...others] = host.repositories;
    if (!monorepo) throw new Error("The day needs a monorepo");
    for (const [n, time] of this.#times(plan.pushes).entries()) {
      const folders = [random.below(monorepo.pipelines), random.below(monorepo.pipelines)];
      const [whose, touched] = n % 5 === 0 ? [monorepo, [...new Set(folders)]] : [random.pick(others), null];
      this.at(time, () => clock.ask(host.push(whose, clock.now, touched)));
    }
    for (const time of this.#times(plan.pulls)) this.at(time, () => clock.ask(host.pull(monorepo, clock.now)));
  }

  async startPeople(client: Client): Promise<void> {
    const { plan, random } = this.#street;
    const tokens = await inParallel(plan.people, 8, async (n) => {
      const wanted = { name: `person ${n}`, kind: "api", role: "maintainer" };
      return (await client.call<{ token: string }>("POST", "/token", wanted)).token;
    });
    const tokenOf = (n: number) => tokens[n % plan.people]!;
    const pipelines = await client.call<Pipeline[]>("GET", "/pipeline?limit=200");
    for (const [n, time] of this.#times(plan.calls).entries())
      this.at(time, () => this.#makeBuild(tokenOf(n), random.pick(pipelines).id, `key-${n}`));
    for (const [n, time] of this.#times(plan.pages).entries())
      this.at(time, async () => {
        const { status } = await this.ask("GET", "/build?limit=50", { token: tokenOf(n) });
        count(this.people.pages, String(status));
      });
  }

  /** Requests a build, as a person, until the service has accepted it. */
  async #makeBuild(token: string, pipelineId: string, key: string): Promise<void> {
    const body = JSON.stringify({ pipelineId, branch: "main" });
    for (;;) {
      this.people.asked += 1;
      const { status, text } = await this.ask("POST", "/build", { token, body, headers: { "Idempotency-Key": key } });
      if (status < 300) return void this.people.made.push((JSON.parse(text) as { id: string }).id);
      if (status < 500) throw new Error(`The service rejected a person's build: ${status} ${text}`);
      await this.#street.clock.sleep(AGAIN_MS);
    }
  }

  /** Requests builds, as a script, as fast as allowed, whatever the answers are. */
  async startLoop(client: Client): Promise<void> {
    const { plan, midnight, clock } = this.#street;
    const { from, until, perMinute } = plan.loop;
    const address = { gitHostRepoId: 1, fullName: "loop/app", cloneUrl: "https://git.example/loop/app.git" };
    const repository = await client.call<Repository>("POST", "/repository", address);
    const wanted = { repoId: repository.id, name: "ci", definition: DEFINITION };
    const pipeline = await client.call<Pipeline>("POST", "/pipeline", wanted);
    const body = JSON.stringify({ pipelineId: pipeline.id, branch: "main" });
    const once = async () => {
      this.loop.asked += 1;
      const { status, text } = await this.ask("POST", "/build", { token: client.token, body });
      if (status < 300) this.loop.made += 1;
      else count(this.loop.refused, `${status} ${/"type":"\/problems\/([a-z-]+)"/.exec(text)?.[1]}`);
    };
    await clock.until(midnight + from);
    while (clock.now < midnight + until) {
      await Promise.all(Array.from({ length: Math.ceil(perMinute / 12) }, once));
      await clock.sleep(5 * SECOND);
    }
  }
}
