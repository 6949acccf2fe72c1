import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { firstIdAt } from "../../../src/domain/id-range.ts";
import type { Repository } from "../../../src/protocol/repository.ts";
import { call, newOrganization, newPipeline, newRepository } from "../../support/api.ts";
import { attachRepository, deliver, eventHeaders, newConnection, type StoredConnection } from "../../support/hooks.ts";
import { hostTime, newPull, newPush, repositoryEvent, SHA } from "../../support/host-events.ts";
import { counting } from "../../support/platform/platform.ts";

let admin: string;
let orgId: string;
let repository: Repository;
let hook: StoredConnection;

beforeEach(async () => {
  ({ admin, orgId } = await newOrganization());
  repository = await newRepository(admin, 1);
  await newPipeline(admin, repository.id);
  hook = await newConnection(orgId, "github");
  await attachRepository(repository.id, hook);
});

const push = (body: object) => deliver(hook, eventHeaders("github", "push"), body);
const pull = (body: object) => deliver(hook, eventHeaders("github", "pull_request"), body);

/** Returns the pull requests that count as open: a closed one's row has no ref. */
const openPulls = async () => {
  const query = "SELECT number, ref, base, head_sha, updated_at FROM open_pull WHERE repo_id = ? AND ref <> ''";
  return (await env.DB.prepare(query).bind(repository.id).all()).results;
};

describe("a repository's open pull requests", () => {
  /** Returns the events in a pull request's life, which ends open or closed. */
  const life = (...actions: string[]): object[] =>
    actions.map((action, n) =>
      newPull(action, SHA(String(n + 1)), { updatedAt: hostTime(n), base: n % 2 ? "next" : "main" }),
    );

  it.each([
    ["is open", life("opened", "synchronize", "edited"), 1],
    ["is closed", life("opened", "synchronize", "labeled", "closed"), 0],
    ["is open again", life("opened", "closed", "reopened", "synchronize"), 1],
    ["is closed again", life("opened", "closed", "reopened", "closed"), 0],
  ])("record in any order, and with repeated deliveries, that one %s", async (_, deliveries, count) => {
    const order = fc.shuffledSubarray([...deliveries, ...deliveries], { minLength: deliveries.length * 2 });
    let misleading = 0;
    await fc.assert(
      fc.asyncProperty(order, async (shuffled) => {
        if (shuffled.at(-1) !== deliveries.at(-1)) misleading++;
        await env.DB.prepare("DELETE FROM open_pull WHERE repo_id = ?").bind(repository.id).run();
        for (const one of shuffled) expect((await pull(one)).status).toBe(202);
        const open = await openPulls();
        expect(open).toHaveLength(count);
        if (count === 1) expect(open[0]).toMatchObject({ head_sha: SHA(String(deliveries.length)) });
      }),
      { numRuns: 4, seed: 2 },
    );
    // If the last delivery were always the last event, any order would do.
    expect(misleading).toBeGreaterThan(1);
  });

  it("are limited to a hundred for a branch, and include the delivery's own", async () => {
    const row = `INSERT INTO open_pull (repo_id, number, ref, base, head_sha, draft, labels_json, title, updated_at)
      SELECT ?1, value, 'refs/heads/topic', 'main', ?2, 0, '[]', 't', ?4 FROM json_each(?3)`;
    const numbers = Array.from({ length: 500 }, (_, n) => n + 1);
    await env.DB.prepare(row)
      .bind(repository.id, SHA("9"), JSON.stringify(numbers), new Date(hostTime(1800)).toISOString())
      .run();
    const late = await pull(newPull("synchronize", SHA("1"), { number: 500 }));
    expect(late.body.ignored).toBe("a later change of the pull request arrived first");
    expect((await push(newPush(SHA("2"), { ref: "refs/heads/topic" }))).body.builds).toHaveLength(1);
  });

  it("record a close that arrives within a second of another change, in any order", async () => {
    const edited = newPull("edited", SHA("1"));
    const closed = newPull("closed", SHA("1"));
    for (const order of [
      [edited, closed],
      [closed, edited],
    ]) {
      for (const one of order) await pull(one);
      expect(await openPulls()).toEqual([]);
    }
    await pull(newPull("reopened", SHA("1")));
    expect(await openPulls()).toHaveLength(1);
  });

  it("include none from a fork", async () => {
    await pull(newPull("opened", SHA("1"), { forkOf: 99 }));
    await pull(newPull("opened", SHA("1"), { forkOf: null, number: 8 }));
    expect(
      (await env.DB.prepare("SELECT * FROM open_pull WHERE repo_id = ?").bind(repository.id).all()).results,
    ).toEqual([]);
  });

  it("are deleted with their repository", async () => {
    await pull(newPull("closed", SHA("1")));
    await pull(newPull("opened", SHA("1"), { number: 8, draft: true }));
    await env.DB.prepare("UPDATE pipeline SET on_json = ? WHERE repo_id = ?").bind("{}", repository.id).run();
    for (const { id } of (await call(admin, "GET", "/build")).body) await call(admin, "POST", `/build/${id}/cancel`);
    expect((await call(admin, "DELETE", `/repository/${repository.id}`)).status).toBe(204);
    const left = await env.DB.prepare("SELECT count(*) AS n FROM open_pull WHERE repo_id = ?")
      .bind(repository.id)
      .first("n");
    expect(left).toBe(0);
  });

  it("forget a closed one after the host's days of redelivery", async () => {
    await pull(newPull("closed", SHA("1"), { number: 1, updatedAt: "2020-01-01T00:00:00Z" }));
    await pull(newPull("closed", SHA("1"), { number: 2, updatedAt: new Date().toISOString() }));
    const rows = await env.DB.prepare("SELECT number FROM open_pull WHERE repo_id = ?").bind(repository.id).all();
    expect(rows.results).toEqual([{ number: 2 }]);
  });
});

describe("a pull request of a monorepo", () => {
  /** Copies the repository's pipeline `count` times. */
  const copyPipeline = async (count: number) => {
    const query = env.DB.prepare("SELECT * FROM pipeline WHERE repo_id = ?").bind(repository.id);
    const columns = Object.keys((await query.first<Record<string, unknown>>())!);
    const own = ["id", "name", "host_context"];
    const values = columns.map((name) => `pipeline.${name}${own.includes(name) ? " || '-' || value" : ""}`);
    await env.DB.prepare(
      `INSERT INTO pipeline (${columns}) SELECT ${values} FROM pipeline, json_each(?2) WHERE repo_id = ?1`,
    )
      .bind(repository.id, JSON.stringify(Array.from({ length: count }, (_, n) => n)))
      .run();
  };
  const calls = async (body: object) => {
    const { value: answer, asked } = await counting(() => deliver(hook, eventHeaders("github", "pull_request"), body));
    const of = asked.calls.filter((one) => /arrive|leaveOut/.test(one));
    return { ...answer.body, calls: of };
  };

  it("builds all 500 pipelines, and first tells the host's object which ones it omits", async () => {
    await copyPipeline(499);
    const all = await calls(newPull("opened", SHA("a")));
    expect(all).toMatchObject({ ignored: null, calls: ["AGENT_POOL arrive"] });
    expect(new Set(all.builds).size).toBe(500);
    await newPipeline(admin, repository.id, { name: "one more" });
    const most = await calls(newPull("synchronize", SHA("b"), { before: SHA("a"), updatedAt: hostTime(1) }));
    expect(most.calls).toEqual(["GIT_HOST leaveOut", "AGENT_POOL arrive"]);
    expect(most.builds).toHaveLength(500);
    expect(most.ignored).toBe("1 not created: one delivery creates at most 500");
  });

  it("tells the host's object which builds the queue rejects", async () => {
    await call(admin, "PUT", `/repository/${repository.id}`, { forks: "approval" });
    await copyPipeline(120);
    const { builds, calls: made } = await calls(newPull("opened", SHA("a"), { forkOf: 99 }));
    expect(builds).toHaveLength(100);
    expect(made).toEqual(["AGENT_POOL arrive", "GIT_HOST leaveOut"]);
  });
});

describe("a closed pull request", () => {
  const labeled = (facts: object) =>
    newPull("labeled", SHA("1"), { updatedAt: hostTime(9), state: "closed", ...facts });

  it.each([
    ["was built and closed", ["opened", "closed"]],
    ["was closed without a delivery", ["opened"]],
    ["is unknown", []],
  ])("is not built or reopened by a label where it %s", async (_, life) => {
    for (const [n, action] of life.entries()) await pull(newPull(action, SHA("1"), { updatedAt: hostTime(n) }));
    const known = await openPulls();
    const isClosed = { builds: [], ignored: "The pull request is closed." };
    expect((await pull(labeled({}))).body).toMatchObject(isClosed);
    expect(await openPulls()).toEqual(known);
  });

  it("is not built if it comes from a fork, and waits for no approval", async () => {
    await call(admin, "PUT", `/repository/${repository.id}`, { forks: "approval" });
    expect((await pull(labeled({ forkOf: 99 }))).body.builds).toEqual([]);
    expect((await call(admin, "GET", "/build")).body).toEqual([]);
  });

  it("is built and recorded by a label if it is still open", async () => {
    expect((await pull(labeled({ state: "open" }))).body.builds).toHaveLength(1);
    expect(await openPulls()).toHaveLength(1);
  });
});

describe("a skip marker", () => {
  it("in a pushed commit also applies to its pull request, whose delivery does not repeat it", async () => {
    const skipped = { ref: "refs/heads/topic", message: "Mend it [skip ci]" };
    expect((await push(newPush(SHA("a"), skipped))).body).toMatchObject({ builds: [], ignored: "skip marker" });
    expect((await pull(newPull("opened", SHA("a")))).body).toMatchObject({ builds: [], ignored: "skip marker" });
    const next = newPull("synchronize", SHA("b"), { before: SHA("a"), updatedAt: hostTime(1) });
    expect((await pull(next)).body.builds).toHaveLength(1);
  });

  it("is stored for the latest commits, once for each", async () => {
    for (let n = 0; n < 60; n++) {
      const sha = n.toString(16).padStart(40, "0");
      if (n > 0) await push(newPush(sha, { ref: "refs/heads/topic", message: "[ci skip] x" }));
      if (n % 7 === 0 && n > 0) await push(newPush(sha, { ref: "refs/heads/topic", message: "[ci skip] x" }));
    }
    const stored = await env.DB.prepare("SELECT skipped_heads_json FROM repository WHERE id = ?").bind(repository.id);
    const heads: string[] = JSON.parse((await stored.first<string>("skipped_heads_json")) ?? "");
    expect(heads).toHaveLength(50);
    expect(new Set(heads).size).toBe(50);
    expect(heads[0]).toBe((59).toString(16).padStart(40, "0"));
  });
});

describe("a renamed repository", () => {
  const rowOf = (id: string) =>
    env.DB.prepare("SELECT * FROM repository WHERE id = ?").bind(id).first<Record<string, unknown>>();
  const audits = async () =>
    (await call(admin, "GET", `/audit?subject=${repository.id}&action=repository.update`)).body;
  const renamed = { fullName: "acme/new-name" };

  it("has its new name from the next delivery on, with an audit row", async () => {
    const body = { action: "renamed", ...newPush(SHA("a"), renamed) };
    const answer = await deliver(hook, eventHeaders("github", "repository"), body);
    expect(answer.body).toMatchObject({ builds: [], ignored: "the repository was renamed" });
    expect((await call(admin, "GET", `/repository/${repository.id}`)).body).toMatchObject({
      ...{ fullName: "acme/new-name", cloneUrl: "https://git.example/acme/app-1.git" },
    });
    expect(await audits()).toMatchObject([
      { actor: `connection:${hook.connectionId}`, detail: { fullName: "acme/new-name" } },
    ]);
    await deliver(hook, eventHeaders("github", "repository"), body);
    expect(await audits()).toHaveLength(1);
  });

  it("is cloned from its new address on the connection's host, unless a credential is stored", async () => {
    const moved = async (cloneUrl: string): Promise<unknown> => {
      await env.DB.prepare("UPDATE repository SET clone_url = ?, full_name = 'acme/app-1' WHERE id = ?")
        .bind(cloneUrl, repository.id)
        .run();
      await push(newPush(SHA("a"), { ...renamed, ref: "refs/heads/unwanted" }));
      return (await rowOf(repository.id))?.clone_url;
    };
    expect(await moved("https://github.com/acme/app-1.git")).toBe("https://github.com/acme/new-name.git");
    expect(await moved("https://github.com/acme/app-1")).toBe("https://github.com/acme/new-name");
    for (const other of [
      "https://git.example/acme/app-1.git",
      "git@github.com:acme/app-1.git",
      "https://github.com:8443/acme/app-1.git",
      "https://github.com/other/name.git",
    ]) {
      expect(await moved(other)).toBe(other);
    }
    await call(admin, "PUT", `/repository/${repository.id}/credential`, { kind: "token", value: "x" });
    const kept = "https://github.com/acme/app-1.git";
    expect(await moved(kept)).toBe(kept);
    expect((await rowOf(repository.id))?.full_name).toBe("acme/new-name");
  });

  describe("with a former name", () => {
    const event = (action: string, changes: object, facts: object) =>
      deliver(hook, eventHeaders("github", "repository"), repositoryEvent(action, changes, facts));
    const rename = (from: string, to: string) =>
      event("renamed", { repository: { name: { from } } }, { fullName: `acme/${to}` });
    const pushAs = (name: string) => push(newPush(SHA("a"), { fullName: `acme/${name}`, ref: "refs/heads/unwanted" }));
    const nameNow = async () => (await rowOf(repository.id))?.full_name;

    it("does not return to it for a late delivery, but does for a rename back", async () => {
      await rename("app-1", "b");
      await pushAs("app-1");
      expect(await nameNow()).toBe("acme/b");
      await rename("b", "app-1");
      expect(await nameNow()).toBe("acme/app-1");
      await pushAs("b");
      expect(await nameNow()).toBe("acme/app-1");
      expect(await audits()).toMatchObject([
        { detail: { fullName: "acme/app-1", formerName: "acme/b" } },
        { detail: { fullName: "acme/b", formerName: "acme/app-1" } },
      ]);
    });

    it("does not return to it for renames that arrive in another order", async () => {
      await rename("b", "c");
      expect(await nameNow()).toBe("acme/c");
      await rename("app-1", "b");
      expect(await nameNow()).toBe("acme/c");
      const owner = { owner: { from: { organization: { login: "acme" } } } };
      await event("transferred", owner, { fullName: "other/c" });
      expect(await nameNow()).toBe("other/c");
      await pushAs("c");
      expect(await nameNow()).toBe("other/c");
    });

    it("may return to it after the host's days of redelivery", async () => {
      await pushAs("b");
      await pushAs("app-1");
      expect(await nameNow()).toBe("acme/b");
      const days = (count: number) => firstIdAt(Date.now() - count * 86_400_000);
      const age = (id: string) =>
        env.DB.prepare("UPDATE audit_log SET id = ? WHERE subject = ? AND action = 'repository.update'")
          .bind(id, repository.id)
          .run();
      await age(days(3));
      await pushAs("app-1");
      expect(await nameNow()).toBe("acme/b");
      await age(days(5));
      await pushAs("app-1");
      expect(await nameNow()).toBe("acme/app-1");
    });
  });
});

describe("a repository whose default branch changed at its host", () => {
  const changed = (from: string, to: string) =>
    deliver(
      hook,
      eventHeaders("github", "repository"),
      repositoryEvent("edited", { default_branch: { from } }, { defaultBranch: to }),
    );
  const branchNow = async () => (await call(admin, "GET", `/repository/${repository.id}`)).body.defaultBranch;
  const pushTrunk = () => push(newPush(SHA("a"), { ref: "refs/heads/trunk", defaultBranch: "trunk" }));

  it("has the new default branch here too, with an audit row, and builds its pushes", async () => {
    expect((await changed("main", "trunk")).body).toMatchObject({
      ...{ builds: [], ignored: "the repository's default branch changed" },
    });
    expect(await branchNow()).toBe("trunk");
    const audit = (await call(admin, "GET", `/audit?subject=${repository.id}&action=repository.update`)).body;
    expect(audit).toMatchObject([{ actor: `connection:${hook.connectionId}`, detail: { defaultBranch: "trunk" } }]);
    expect((await pushTrunk()).body.builds).toHaveLength(1);
    await changed("main", "trunk");
    await changed("old", "main");
    expect(await branchNow()).toBe("trunk");
  });

  it("keeps a branch that a person chose here, and explains why a push to the host's builds nothing", async () => {
    await call(admin, "PUT", `/repository/${repository.id}`, { defaultBranch: "develop" });
    await changed("main", "trunk");
    expect(await branchNow()).toBe("develop");
    expect((await pushTrunk()).body).toEqual({
      ...{ delivery: expect.any(String), builds: [] },
      ignored: "no pipeline builds this branch: trunk is the default branch at the host, but here it is develop",
    });
    const check = async () => (await call(admin, "GET", `/connection/${hook.connectionId}/check`)).body;
    const detail = "The default branch is trunk at the host, but develop here: change it here if it was renamed.";
    await expect
      .poll(async () => (await check()).differences)
      .toEqual([{ repositoryId: repository.id, fullName: "acme/app-1", detail }]);
    const other = { ref: "refs/heads/topic", defaultBranch: "trunk" };
    expect((await push(newPush(SHA("b"), other))).body.ignored).toBe("no pipeline builds this branch");
  });
});

describe("the name of a pipeline's statuses", () => {
  const contextOf = (id: string) =>
    env.DB.prepare("SELECT host_context FROM pipeline WHERE id = ?").bind(id).first("host_context");

  it("survives a rename of the pipeline, for an older pipeline from its first build on", async () => {
    const { id } = await newPipeline(admin, repository.id, { name: "lint" });
    expect(await contextOf(id)).toBe("millrace/lint");
    await env.DB.prepare("UPDATE pipeline SET host_context = NULL WHERE id = ?").bind(id).run();
    await push(newPush(SHA("a")));
    expect(await contextOf(id)).toBe("millrace/lint");
    await call(admin, "PUT", `/pipeline/${id}`, { name: "other" });
    await push(newPush(SHA("b"), { before: SHA("a") }));
    expect(await contextOf(id)).toBe("millrace/lint");
  });
});
