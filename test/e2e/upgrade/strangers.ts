import { expect } from "vitest";
import type { Client } from "../../../src/local/client.ts";
import { waitForEnd } from "../../../src/local/demo.ts";
import type { Build } from "../../../src/protocol/build.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import { type RunningAgent, startAgent } from "../../support/local/agent.ts";
import { deliver, newDelivery } from "../../support/local/git-host/deliveries.ts";
import { github } from "../../support/local/git-host/payloads/github.ts";
import { connectRepository, type GitRepository, makeRepository } from "../../support/local/git-repository.ts";
import type { LocalService } from "../../support/local/service.ts";

const LABELLED = { labels: ["untrusted"] };

interface Hook {
  url: string;
  secret: string;
}

/** Delivers a fork's pull request, and puts its head into the repository as a host would. @returns its build */
const openFork = async (
  { client, git, hook }: { client: Client; git: GitRepository; hook: Hook },
  repository: { id: number; fullName: string; defaultBranch: string },
  number: number,
): Promise<string> => {
  git.git("commit", "--quiet", "--allow-empty", "--message", `gift ${number}`);
  const head = git.git("rev-parse", "HEAD");
  git.git("update-ref", `refs/pull/${number}/head`, head);
  const pull = {
    ...{ number, title: "Gift", branch: "gift", base: "main", head, isOpen: true, isMerged: false },
    ...{ updatedAt: new Date(), from: { id: 77, fullName: "mallory/app", defaultBranch: "main" } },
  };
  const typed = { ...hook, id: 1, repositoryId: repository.id, events: ["pull_request"] };
  for (const event of github.pull(repository, pull as never, "opened", null)) {
    const delivery = newDelivery(typed, event);
    await deliver("github", delivery);
    expect(delivery.status, delivery.answer).toBe(202);
  }
  const ofPull = () => client.call<Build[]>("GET", `/build?pull=${number}`);
  await expect.poll(async () => (await ofPull()).length).toBe(1);
  return (await ofPull())[0]!.id;
};

/** Builds from forks at the upgrade: one without approval, and one that the previous release's agent has run. */
export class Strangers {
  readonly #client: Client;
  readonly #pipelineId: string;
  readonly #held: string;
  readonly #approved: string;
  readonly #agent: RunningAgent;

  private constructor(client: Client, pipelineId: string, [held, approved]: [string, string], agent: RunningAgent) {
    this.#client = client;
    this.#pipelineId = pipelineId;
    this.#held = held;
    this.#approved = approved;
    this.#agent = agent;
  }

  /** Starts the builds under the previous release. Its agent has the label. */
  static async begin(service: LocalService, programBefore: string): Promise<Strangers> {
    const client = await service.newOrganization("strangers");
    const git = makeRepository(service.folder, { ".millrace.yml": "steps: [{ run: echo built }]\n" });
    const repository = await connectRepository(client, git);
    const body = { repoId: repository.id, name: "ci", on: { pull: {} } };
    const pipeline = await client.call<Pipeline>("POST", "/pipeline", body);
    const host = { kind: "github", name: "by hand", webUrl: "https://git.example" };
    const { id: connectionId } = await client.call<{ id: string }>("POST", "/connection", host);
    const hook = await client.call<Hook>("GET", `/connection/${connectionId}/hook`);
    await client.call("PUT", `/repository/${repository.id}`, { connectionId, forks: "approval" });
    const named = { ...repository, id: repository.gitHostRepoId as number };
    const held = await openFork({ client, git, hook }, named, 7);
    const approved = await openFork({ client, git, hook }, named, 8);
    await client.call("POST", `/build/${approved}/approve`);
    const program = { ...LABELLED, program: programBefore };
    const agent = await startAgent(client, service.folder, "strangers-of-before", program);
    await waitForEnd(client, approved);
    return new Strangers(client, pipeline.id, [held, approved], agent);
  }

  /** Expects the old agent to keep working. It gets the unapproved build only after an approval. */
  async expectEnds(): Promise<void> {
    const client = this.#client;
    const held = this.#held;
    const body = { pipelineId: this.#pipelineId, branch: "main" };
    const trusted = await client.call<Build>("POST", "/build", { ...body, labels: ["untrusted"] });
    expect(await waitForEnd(client, trusted.id)).toMatchObject({ status: "succeeded" });
    const approved = await client.call<Build>("GET", `/build/${this.#approved}`);
    expect(approved).toMatchObject({ status: "succeeded", trust: "untrusted" });
    const waiting = await client.call<Build>("GET", `/build/${held}`);
    expect(waiting).toMatchObject({ status: "queued", attempt: 0, agentId: null });
    await client.call("POST", `/build/${held}/approve`);
    expect(await waitForEnd(client, held)).toMatchObject({ status: "succeeded", trust: "untrusted", attempt: 1 });
  }

  async stop(): Promise<void> {
    await this.#agent.stop();
  }
}
