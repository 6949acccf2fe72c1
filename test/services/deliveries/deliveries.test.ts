import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { DeliveryTaken, HostDelivery } from "../../../src/protocol/delivery.ts";
import type { Repository } from "../../../src/protocol/repository.ts";
import { call, expectProblem, newOrganization, newPipeline, newRepository, newToken } from "../../support/api.ts";
import { attachRepository, deliver, eventHeaders, newConnection, type StoredConnection } from "../../support/hooks.ts";
import { newPush, SHA } from "../../support/host-events.ts";

let admin: string;
let maintainer: string;
let orgId: string;
let repository: Repository;
let hook: StoredConnection;

beforeEach(async () => {
  ({ admin, orgId } = await newOrganization());
  maintainer = await newToken(admin, "maintainer");
  repository = await newRepository(admin, 1);
  hook = await newConnection(orgId, "github");
  await attachRepository(repository.id, hook);
});

const push = (body: object, delivery: string) => deliver(hook, eventHeaders("github", "push", delivery), body);
const path = () => `/connection/${hook.connectionId}/delivery`;
const list = async () => (await call<HostDelivery[]>(maintainer, "GET", path())).body;
/** Waits for the list, which is written after the answer. */
const untilListed = (id: string) => expect.poll(async () => (await list()).map((one) => one.id)).toContain(id);
const redeliver = (id: string) =>
  call<DeliveryTaken>(maintainer, "POST", `${path()}/${encodeURIComponent(id)}/redeliver`);

describe("a connection's deliveries", () => {
  it("are listed with their outcomes, newest first, without their content", async () => {
    await newPipeline(admin, repository.id);
    const made = await push(newPush(SHA("a")), "one");
    await push(newPush(SHA("b"), { ref: "refs/heads/topic" }), "two");
    await deliver(hook, eventHeaders("github", "star", "three"), {});
    const told = { hostRepoId: 1, fullName: "acme/app-1", defaultBranch: "main" };
    expect(await list()).toEqual([
      {
        ...{ id: "three", at: expect.any(String), event: "star", repository: null, ref: null, sha: null },
        ...{ builds: [], ignored: "This event triggers no build.", mayRedeliver: true },
      },
      {
        ...{ id: "two", at: expect.any(String), event: "push", repository: told, ref: "refs/heads/topic" },
        ...{ sha: SHA("b"), builds: [], ignored: "no pipeline builds this branch", mayRedeliver: true },
      },
      {
        ...{ id: "one", at: expect.any(String), event: "push", repository: told, ref: "refs/heads/main" },
        ...{ sha: SHA("a"), builds: made.body.builds, ignored: null, mayRedeliver: true },
      },
    ]);
  });

  it("can be redelivered to the current pipelines, and the build names the person", async () => {
    expect((await push(newPush(SHA("a")), "one")).body.ignored).toBe(
      `there is no active pipeline: add one at https://millrace.test/app/repositories/${repository.id}`,
    );
    await newPipeline(admin, repository.id);
    const { status, body } = await redeliver("one");
    expect({ status, count: body.builds.length, id: body.delivery }).toEqual({
      ...{ status: 200, count: 1, id: expect.stringMatching(/^one~\d+$/) },
    });
    expect((await call(admin, "GET", `/build/${body.builds[0]}`)).body).toMatchObject({ event: "push" });
    await untilListed(body.delivery);
    const again = await redeliver(body.delivery);
    expect(again.body.builds).toEqual(body.builds);
    expect(again.body.delivery).toMatch(/^one~\d+$/);
    await untilListed(again.body.delivery);
    expect((await list()).map(({ id, builds }) => [id, builds])).toEqual([
      [again.body.delivery, body.builds],
      [body.delivery, body.builds],
      ["one", []],
    ]);
    const [audit] = (await call(admin, "GET", `/audit?subject=${body.builds[0]}`)).body;
    expect(audit?.actor ?? "").not.toMatch(/^connection/);
  });

  it("do not restore a repository's former name when they are redelivered", async () => {
    await push(newPush(SHA("a"), { fullName: "acme/first" }), "one");
    await push(newPush(SHA("b"), { fullName: "acme/second" }), "two");
    await redeliver("one");
    expect((await call(admin, "GET", `/repository/${repository.id}`)).body.fullName).toBe("acme/second");
  });

  it("are kept without long lists of files, and can still be redelivered", async () => {
    const files = Array.from({ length: 4000 }, (_, n) => `folder/file-${n}.ts`);
    await push(newPush(SHA("a"), { before: SHA("9"), files }), "long");
    await newPipeline(admin, repository.id);
    expect(await list()).toMatchObject([{ id: "long", mayRedeliver: true }]);
    expect((await redeliver("long")).body.builds).toHaveLength(1);
  });

  it("belong to one connection, and unknown ones are not found", async () => {
    await push(newPush(SHA("a")), "one");
    expectProblem((await redeliver("two")) as never, 404, "not-found");
    const other = await newConnection(orgId, "github");
    const elsewhere = `/connection/${other.connectionId}/delivery`;
    expect((await call(maintainer, "GET", elsewhere)).body).toEqual([]);
    expectProblem(await call(maintainer, "POST", `${elsewhere}/one/redeliver`), 404, "not-found");
    const { admin: stranger } = await newOrganization();
    expectProblem(await call(stranger, "GET", path()), 404, "not-found");
    expectProblem(await call(stranger, "POST", `${path()}/one/redeliver`), 404, "not-found");
  });

  it("are listed while the connection is disabled, but cannot be redelivered", async () => {
    await push(newPush(SHA("a")), "one");
    await env.DB.prepare("UPDATE connection SET is_active = 0 WHERE id = ?").bind(hook.connectionId).run();
    expect(await list()).toHaveLength(1);
    expectProblem((await redeliver("one")) as never, 409, "conflict");
  });

  it("cannot be redelivered if one is too large to keep", async () => {
    const note = { id: "large", at: 1, event: "push", repository: null, ref: null, sha: null };
    const host = env.GIT_HOST.getByName(`${orgId}/${hook.connectionId}`) as unknown as {
      noteDelivery(note: object): Promise<void>;
    };
    await host.noteDelivery({ ...note, builds: [], ignored: "x", arrival: null });
    expect(await list()).toMatchObject([{ id: "large", mayRedeliver: false }]);
    expectProblem((await redeliver("large")) as never, 409, "conflict");
  });
});
