import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { proves, readDelivery } from "../../src/githosts/core/delivery.ts";
import { HOSTS } from "../../src/githosts/hosts.ts";
import { TestGitHost } from "../support/local/git-host/git-host.ts";
import { makeRepository } from "../support/local/git-repository.ts";

/* The test git host's deliveries have the fields that the readers use in real hosts' deliveries. */

const SECRET = "the secret of the hook";

let folder: string;
let server: Server;
let url: string;
const received: { headers: Headers; bytes: Uint8Array<ArrayBuffer> }[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "millrace-host-"));
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({
      headers: new Headers(request.headers as Record<string, string>),
      bytes: new Uint8Array(Buffer.concat(chunks)),
    });
    response.writeHead(202).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a host of this kind with a repository. `arrivals` returns the deliveries that an action causes. */
const lifeAt = async (kind: "github" | "gitlab" | "gitea") => {
  const host = await TestGitHost.start(kind, folder);
  const repository = host.addRepository("acme/app");
  host.addHook(repository, { url, secret: SECRET });
  const git = makeRepository(folder, { "a.txt": "a" });
  const arrivals = async (act: () => unknown) => {
    received.length = 0;
    await act();
    await host.settled();
    const taken = [];
    for (const { headers, bytes } of received) {
      expect(await proves(HOSTS[kind], headers, bytes, SECRET)).toBe(true);
      const delivery = readDelivery(HOSTS[kind], headers, bytes);
      if ("problem" in delivery) throw new Error(delivery.problem);
      if (delivery.arrival.kind !== "ignored") taken.push(delivery.arrival);
    }
    return taken;
  };
  const push = (...refs: string[]) => host.push(git, repository, ...refs);
  return { host, repository, git, push, arrivals };
};

describe.each(["github", "gitlab", "gitea"] as const)("the simulated %s", (kind) => {
  it("delivers pushes, tags and pull requests that the readers accept", async () => {
    const { host, repository, git, push, arrivals } = await lifeAt(kind);
    const sha = () => git.git("rev-parse", "HEAD");
    const first = sha();
    const [made] = await arrivals(() => push("main"));
    expect(made).toMatchObject({ kind: "push", ref: "refs/heads/main", sha: first, before: null });
    expect(made).toMatchObject({ repository: { id: repository.id, fullName: "acme/app", defaultBranch: "main" } });

    git.git("commit", "--quiet", "--allow-empty", "--message", "second");
    const [second] = await arrivals(() => push("main"));
    expect(second).toMatchObject({ kind: "push", sha: sha(), before: first, commit: { subject: "second" } });
    expect(second).toMatchObject({ changedPaths: [] });

    git.git("tag", "--annotate", "--message", "one", "v1");
    const [tag] = await arrivals(() => push("v1"));
    expect(tag).toMatchObject({ kind: "tag", ref: "refs/tags/v1", sha: sha() });

    git.git("checkout", "--quiet", "-b", "topic");
    git.git("commit", "--quiet", "--allow-empty", "--message", "third");
    await arrivals(() => push("topic"));
    const [opened] = await arrivals(() => host.openPull(repository, "topic"));
    expect(opened).toMatchObject({ kind: "pull", action: "opened", sha: sha(), pull: { base: "main", isFork: false } });
    git.git("commit", "--quiet", "--allow-empty", "--amend", "--message", "other third");
    const both = await arrivals(() => push("--force", "topic"));
    expect(both.map((arrival) => arrival.kind).sort()).toEqual(["pull", "push"]);
    expect(both.find((arrival) => arrival.kind === "pull")).toMatchObject({ action: "new-head", sha: sha() });
    const gone = await arrivals(() => push(":topic"));
    expect(gone).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: "deleted", ref: "refs/heads/topic" }),
        expect.objectContaining({ kind: "pull", action: "closed" }),
      ]),
    );
    await host.close();
  });

  it("rejects strangers at its git and its API", async () => {
    const { host, repository } = await lifeAt(kind);
    expect((await fetch(`${host.cloneUrl(repository)}/info/refs?service=git-upload-pack`)).status).toBe(401);
    expect((await fetch(`${host.apiUrl}/user`)).status).toBe(401);
    await host.close();
  });
});
