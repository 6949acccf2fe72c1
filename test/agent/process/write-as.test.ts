import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { writeFiles } from "../../../src/agent/build/build-files.ts";
import { makeBuildFolder, removeBuildFolder, removeFiles } from "../../../src/agent/build/build-folder.ts";
import { saveIdentity } from "../../../src/agent/cli/identity.ts";
import { runShell, type StepUser } from "../../../src/agent/process/step-user.ts";
import { fileNameProblem } from "../../../src/protocol/variable.ts";
import { isRoot } from "../../support/local/named-user.ts";
import { runAgentCli } from "../support/agent-cli.ts";
import { IDENTITY, makeJob, startFakeService } from "../support/fake-service.ts";
import { testFolder } from "../support/folder.ts";
import { testRepository } from "../support/repository.ts";
import { namedUser, unnamedUser } from "../support/step-user.ts";
import { waitUntil } from "../support/wait-until.ts";

const bytes = Buffer.from("of the mill\n");
const openFolder = (): string => {
  const folder = testFolder();
  chmodSync(folder, 0o755);
  return folder;
};

const buildOf = async (user: StepUser | null) => {
  const folder = await makeBuildFolder(openFolder(), user);
  onTestFinished(() => removeBuildFolder(folder.path, user));
  return folder;
};

describe("a file that is written for steps", () => {
  it("has any allowed name, and its bytes", async () => {
    const folder = await buildOf(null);
    const name = fc.string({ unit: "grapheme", maxLength: 80 }).filter((one) => fileNameProblem(one) === null);
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(name, fc.uint8Array({ maxLength: 300 }), async (name, content) => {
        const within = { files: join(folder.files, String(++runs)) };
        mkdirSync(within.files);
        const { KEY: path = "" } = await writeFiles([{ key: "KEY", name, bytes: content }], within, null);
        expect(readFileSync(path)).toEqual(Buffer.from(content));
        expect(readdirSync(join(within.files, "1"))).toEqual([name]);
      }),
      {
        numRuns: 40,
        examples: [
          ["-rf", bytes],
          ["$(reboot)", bytes],
          ["a b'\"\\", bytes],
          ["...", bytes],
        ],
      },
    );
  });

  it("does not overwrite an existing file", async () => {
    const folder = await buildOf(null);
    const one = { key: "KEY", name: "n", bytes };
    await writeFiles([one], folder, null);
    await expect(writeFiles([one], folder, null)).rejects.toThrow("cannot write the file of KEY");
  });
});

describe.runIf(isRoot)("a file that root writes for another user", () => {
  const victimOf = () => {
    const folder = openFolder();
    const path = join(folder, "victim");
    writeFileSync(path, "root's");
    return { folder, path, content: () => readFileSync(path, "utf8") };
  };

  it("belongs to that user, and no other can read it", async () => {
    const [user, other] = [unnamedUser(), unnamedUser()];
    const folder = await buildOf(user);
    const { KEY: path = "" } = await writeFiles([{ key: "KEY", name: "n", bytes }], folder, user);
    expect(lstatSync(path)).toMatchObject({ uid: user.uid, gid: user.gid });
    expect((lstatSync(path).mode & 0o777).toString(8)).toBe("600");
    const read = async (who: StepUser | null) => (await runShell(who, 'cat -- "$1" > /dev/null', [path])).code;
    expect([await read(user), await read(null)]).toEqual([0, 0]);
    expect(await read(other)).not.toBe(0);
  });

  it("does not follow a link in its place, as a root process would", async () => {
    const user = unnamedUser();
    const planted = async () => {
      const folder = await buildOf(user);
      const victim = victimOf();
      symlinkSync(victim.folder, join(folder.files, "1"));
      return { folder, victim };
    };
    const control = await planted();
    writeFileSync(join(control.folder.files, "1/victim"), bytes);
    expect(control.victim.content()).toBe("of the mill\n");
    const { folder, victim } = await planted();
    const write = writeFiles([{ key: "KEY", name: "victim", bytes }], folder, user);
    await expect(write).rejects.toThrow("cannot write the file of KEY");
    expect(victim.content()).toBe("root's");
    const own = await planted();
    chownSync(own.victim.folder, user.uid, user.gid);
    await expect(writeFiles([{ key: "KEY", name: "new", bytes }], own.folder, user)).rejects.toThrow(
      "cannot write the file of KEY",
    );
    expect(readdirSync(own.victim.folder)).toEqual(["victim"]);
  });

  it("is removed with its user's rights, whatever that user put in its place", async () => {
    const user = unnamedUser();
    const folder = await buildOf(user);
    const victim = victimOf();
    await writeFiles([{ key: "KEY", name: "n", bytes }], folder, user);
    const replace = 'rm -rf -- "$1/1" && ln -s "$2" "$1/1" && ln -s "$2/victim" "$1/2"';
    expect(await runShell(user, replace, [folder.files, victim.folder])).toMatchObject({ code: 0 });
    await removeFiles(folder, user);
    expect(readdirSync(folder.files)).toEqual([]);
    expect(victim.content()).toBe("root's");
    const swap = 'rmdir -- "$1" && ln -s "$2" "$1"';
    expect((await runShell(user, swap, [folder.files, victim.folder])).code).not.toBe(0);
  });

  it("is visible to its build's steps, but not to the next build's", async () => {
    const service = await startFakeService();
    onTestFinished(() => service.close());
    const user = namedUser();
    const file =
      'steps:\n  - run: id -un; cat "$CERT" | sha256sum; ls "$CERT"; ls ../files\n    continue-on-error: true\n';
    const { cloneUrl } = testRepository({ ".millrace.yml": file });
    const files = { CERT: { encoding: "text" as const, text: "of the mill, masked\n" } };
    const first = makeJob(cloneUrl, 1, { files, secretKeys: ["CERT"] });
    service.jobs.push(first, makeJob(cloneUrl, 2));
    const state = join(testFolder(), "state");
    saveIdentity(state, { ...IDENTITY, url: service.url });
    const work = openFolder();
    const agent = runAgentCli(["start", "--grace", "1", "--state", state, "--run-as", user.name, "--work", work]);
    await waitUntil(() => service.results.length === 2);
    const [one = "", two = ""] = [...service.logs.values()];
    expect(one).toMatch(new RegExp(`^${user.name}\\n[0-9a-f]{64}  -\\n/.*/files/1/CERT\\n1\\n`, "m"));
    expect(one).not.toContain("of the mill, masked");
    expect(two).not.toContain("files/1");
    agent.kill("SIGTERM");
    await agent.ended;
    expect(readdirSync(work)).toEqual([]);
  });
});
