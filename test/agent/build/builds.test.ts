import { describe, expect, it } from "vitest";
import { makeJob } from "../support/fake-service.ts";
import { testRepository } from "../support/repository.ts";
import { useRunningAgent } from "../support/running-agent.ts";

const agent = useRunningAgent();
let number = 1;

const pipeline = (steps: string): Record<string, string> => ({ ".millrace.yml": `steps:\n${steps}` });

describe("an agent that runs consecutive builds", () => {
  it.each([
    ["a failed pipe", "  - run: false | cat\n", { status: "failed", exitCode: 1 }],
    ["an exit code", "  - run: exit 42\n  - run: echo never\n", { status: "failed", exitCode: 42 }],
    ["a missing command", "  - run: no-such-command\n", { status: "failed", exitCode: 127 }],
    ["a signal", "  - run: kill -KILL $$\n", { status: "failed", exitCode: 137 }],
    ["a forgiven failure", "  - run: exit 3\n    continue-on-error: true\n", { status: "succeeded", exitCode: 0 }],
    [
      "a mistake in the file",
      "  - rum: echo\n",
      { status: "failed", reason: "pipeline-invalid", message: expect.stringMatching(/^\.millrace\.yml:2:5: .*run/m) },
    ],
    [
      "a mistake that only a running build can find",
      "  - run: echo ${{ GONE }}\n",
      { status: "failed", reason: "pipeline-invalid", message: expect.stringMatching(/^\.millrace\.yml:2:19: /) },
    ],
    ["a missing folder", "  - run: pwd\n    working-directory: gone\n", { status: "failed", exitCode: 127 }],
  ])("reports %s", async (_, steps, expected) => {
    const { result, log } = await agent.take(makeJob(testRepository(pipeline(steps)).cloneUrl, number++));
    expect(result).toMatchObject(expected);
    expect(log).not.toContain("never");
    if ("message" in expected) expect(log.split(".millrace.yml:2:")).toHaveLength(2);
  });

  it.each([
    ["a missing branch", { branch: "gone" }, "checkout-failed", /no such branch/],
    ["a commit that is not on the branch", { commitSha: "0".repeat(40) }, "commit-not-on-branch", /is not on main/],
  ])("fails a build with %s and says what to do", async (_, change, reason, message) => {
    const job = makeJob(testRepository(pipeline("  - run: true\n")).cloneUrl, number++);
    const { result, log } = await agent.take({ ...job, build: { ...job.build, ...change } });
    expect(result).toMatchObject({ status: "failed", reason, message: expect.stringMatching(message) });
    expect(log).toMatch(message);
  });

  it("runs no command hidden in a branch, a variable or a run's own variable", async () => {
    const branch = "x$(touch${IFS}marker)";
    const repository = testRepository(
      pipeline(`  - env:
      INNER: \${{ build.branch }}
    run: |
      echo "1 \${{ build.branch }}"
      echo "2 $INNER \${{ env.INNER }} $MILLRACE_BRANCH"
      echo "3 \${{ EVIL }} $EVIL"
      ls
`),
    );
    repository.git("branch", branch);
    const job = makeJob(repository.cloneUrl, number++, {
      env: { EVIL: "`touch marker`;touch marker" },
      runKeys: ["EVIL"],
    });
    const { log, result } = await agent.take({ ...job, build: { ...job.build, branch } });
    expect(result).toMatchObject({ status: "succeeded" });
    expect(log).toContain(`1 ${branch}\n2 ${branch} ${branch} ${branch}\n3 ${job.env.EVIL} ${job.env.EVIL}\n`);
    expect(log).not.toMatch(/^marker$/m);
  });

  it("releases a build whose file requires a capability that the agent lacks", async () => {
    const text = "requires:\n  ios: true\n  labels: [big, golden]\nsteps:\n  - run: true\n";
    const { kind, result } = await agent.take(makeJob(testRepository({ ".millrace.yml": text }).cloneUrl, number++));
    expect({ kind, result }).toMatchObject({
      kind: "release",
      result: {
        reason: expect.stringContaining("cannot build for iOS, lacks the label golden"),
        requires: { ios: true, labels: ["big", "golden"] },
      },
    });
  });

  it("masks values from a step's mask file, and reports the mask before the bytes", async () => {
    const steps = `  - run: |
      echo made-up-token >> "$MILLRACE_MASK"
      echo "it is made-up-token"
  - run: echo "still made-up-token"
`;
    const { log, requests } = await agent.take(makeJob(testRepository(pipeline(steps)).cloneUrl, number++));
    expect(log).toContain("it is ***\n");
    expect(log).toContain("still ***\n");
    const masksAt = requests.findIndex(
      ({ path, body }) => path.endsWith("/progress") && body.includes("made-up-token"),
    );
    const bytesAt = requests.findIndex(({ path, body }) => path.endsWith("/log") && body.includes("it is"));
    expect(masksAt).toBeGreaterThan(-1);
    expect(bytesAt).toBeGreaterThan(masksAt);
  });

  it("masks the value of ::add-mask::, and reports the mask before the bytes", async () => {
    const tools = {
      "ask.sh": "printf '::add-mask::made-'; sleep 0.3; echo up-token; echo 'it is made-up-token'\n",
      "again.sh": "echo 'still made-up-token'; printf '::add-mask::last-one'\n",
    };
    const steps = "  - run: sh ask.sh\n  - run: sh again.sh\n  - run: echo 'the last-one'\n";
    const { log, requests } = await agent.take(
      makeJob(testRepository({ ...pipeline(steps), ...tools }).cloneUrl, number++),
    );
    expect(log).toContain("::add-mask::***\nit is ***\n");
    expect(log).toContain("still ***\n::add-mask::***\n");
    expect(log).toContain("the ***\n");
    const at = (action: string, text: string): number =>
      requests.findIndex(({ path, body }) => path.endsWith(action) && body.includes(text));
    expect(at("/progress", "made-up-token")).toBeGreaterThan(-1);
    expect(at("/log", "it is")).toBeGreaterThan(at("/progress", "made-up-token"));
    const sent = requests.filter(({ path }) => path.endsWith("/log")).map(({ body }) => body.toString());
    expect(sent.join("")).toContain("it is ***");
    expect(sent.join("")).not.toContain("made-");
  });

  it("logs in a later attempt how the previous one ended, and where its log is", async () => {
    const job = makeJob(testRepository(pipeline("  - run: echo attempt ${{ build.attempt }}\n")).cloneUrl, number++);
    const message = "Attempt 1 was lost. Its agent was stopped.";
    const { log } = await agent.take({ ...job, build: { ...job.build, attempt: 1, message } });
    const where = `GET ${agent.service().url}/build/${job.build.id}/log?attempt=1`;
    expect(log).toContain(`, main\n${message}\nThis is attempt 2. The log of attempt 1: ${where}\ncommit `);
    expect(log).toMatch(/attempt 2\n$/);
  });
});
