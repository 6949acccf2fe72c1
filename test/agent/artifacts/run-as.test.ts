import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { saveIdentity } from "../../../src/agent/cli/identity.ts";
import { isRoot } from "../../support/local/named-user.ts";
import { runAgentCli } from "../support/agent-cli.ts";
import { IDENTITY, makeJob, startFakeService } from "../support/fake-service.ts";
import { testFolder } from "../support/folder.ts";
import { testRepository } from "../support/repository.ts";
import { namedUser } from "../support/step-user.ts";
import type { StubResponse } from "../support/stub-server.ts";
import { waitUntil } from "../support/wait-until.ts";

const openFolder = (mode: number): string => {
  const folder = testFolder();
  chmodSync(folder, mode);
  return folder;
};

describe.runIf(isRoot)("a root agent with --run-as", () => {
  it("stores its steps' files, and no file that only root can read", async () => {
    const service = await startFakeService();
    onTestFinished(() => service.close());
    const opened: { name: string }[] = [];
    const sent: string[] = [];
    service.intercept = ({ path, body }): StubResponse | null => {
      if (path.endsWith("/artifact")) {
        opened.push(JSON.parse(body.toString()));
        const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
        return {
          status: 201,
          body: { artifactId: crypto.randomUUID(), grant: "g", expiresAt, partBytes: 2 ** 25, parts: 1 },
        };
      }
      if (path.includes("/part/")) return { body: { etag: String(sent.push(body.toString("latin1"))) } };
      return path.endsWith("/done") ? { body: {} } : null;
    };
    const secret = join(openFolder(0o711), "secret");
    writeFileSync(secret, "ROOT-ONLY", { mode: 0o600 });
    const { cloneUrl } = testRepository({
      ".millrace.yml": `steps:
  - run: |
      mkdir -p out/Mill.app; id -u > out/user; echo code > out/Mill.app/mill
      ln -s ${secret} out/link; ln -s ${secret} out/Mill.app/link
      ln -s ${secret} named; ln -s ${secret.replace(/\/[^/]*$/, "")} folder
      echo "named=named" >> "$MILLRACE_ARTIFACT"; echo "user=out/user" >> "$MILLRACE_ARTIFACT"
artifacts:
  - { name: whole, path: out/, when: always }
  - { name: out, when: always, path: [out/, 'folder/*', folder/secret] }
  - { name: tree, path: out/, as: tar, when: always }
  - { name: named again, path: named, if-none: warn, when: always }
`,
    });
    const job = makeJob(cloneUrl, 1);
    service.jobs.push(job);
    const user = namedUser();
    const state = join(testFolder(), "state");
    saveIdentity(state, { ...IDENTITY, url: service.url });
    const work = openFolder(0o711);
    const agent = runAgentCli(["start", "--once", "--state", state, "--run-as", user.name, "--work", work]);
    const { body } = await waitUntil(() => service.results.find(({ buildId }) => buildId === job.build.id));
    expect((await agent.ended).code).toBe(0);
    // The path that the step named is a link to a place outside the checkout, so it is not a file.
    expect(body).toMatchObject({ status: "failed", reason: "artifact-failed" });
    expect(body.message).toMatch(/^Cannot store artifact named: no file in the checkout matches named/);
    expect(opened.map(({ name }) => name)).toEqual(["user", "whole", "out", "tree"]);
    expect(sent[0]).toBe(`${user.uid}\n`);
    expect(service.logs.get(job.build.id)).toContain("left out: named is a link to a place outside the checkout");
    expect(sent.join("")).not.toContain("ROOT-ONLY");
  });
});
