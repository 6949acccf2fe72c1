import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentProgram, OLDEST_NODE } from "../../src/assets/programs.ts";
import { makeJob, startFakeService } from "../agent/support/fake-service.ts";
import { makeRepository } from "../support/local/git-repository.ts";

const TOO_OLD = "18.20.8";
const VERSIONS = [TOO_OLD, `${OLDEST_NODE}.0`, "20.20.2", "22.23.3", "24.21.0"];

const FILE = `steps:
  - run: echo "hello $NAME"
  - if: build.branch == 'main'
    run: echo "\${{ build.branch }}" | tr a-z A-Z
`;

/** Installs these Node versions from npm, without install scripts and links. */
const install = (folder: string): void => {
  const packages = VERSIONS.map((version) => `node-${version}@npm:node-linux-${process.arch}@${version}`);
  const quiet = ["--ignore-scripts", "--no-bin-links", "--no-package-lock", "--no-audit", "--loglevel=error"];
  execFileSync("npm", ["install", "--prefix", folder, ...quiet, ...packages], { stdio: "inherit" });
};

/** Runs the main commands and one build on this Node. @returns each command's last line, with its exit code */
const runAgentOn = async (node: string, program: string, folder: string): Promise<string[]> => {
  const service = await startFakeService();
  const { cloneUrl } = makeRepository(folder, { ".millrace.yml": FILE });
  const job = makeJob(cloneUrl, 1, { env: { NAME: "mill" } });
  service.jobs.push(job);
  const state = mkdtempSync(join(folder, "state-"));
  const file = join(state, "pipeline.yml");
  writeFileSync(file, "steps:\n  - run: echo here\n");
  const run = (...args: string[]): Promise<string> =>
    new Promise((resolve) => {
      const child = execFile(node, [program, ...args], { cwd: state, timeout: 60_000 }, (_, stdout, stderr) => {
        const lines = (stdout + stderr).trim().split("\n");
        resolve(`${args[0]}: ${child.exitCode}, ${lines.length === 1 ? lines[0] : `${lines.length} lines`}`);
      });
      child.stdin?.end("mrr_acme_token\n");
    });
  const lines = [
    await run("--version"),
    await run("register", "--url", service.url, "--token-file", "-", "--name", "wheel", "--state", state),
    await run("status", "--state", state),
    await run("check", file),
    await run("run", file),
    await run("start", "--once", "--state", state),
  ];
  const [end] = service.results;
  const log = service.logs.get(job.build.id) ?? "";
  await service.close();
  const isRight = end?.kind === "finish" && log.includes("hello mill\n") && log.includes("MAIN\n");
  return [...lines, `build: ${isRight ? "finished, with its complete log" : "not finished"}`];
};

/** Runs the bundled agent on the oldest supported Node, the newest of each line, and one that is too old. */
export const drill = async (): Promise<boolean> => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-nodes-"));
  try {
    install(folder);
    const program = join(folder, "agent.mjs");
    writeFileSync(program, (await agentProgram()).text);
    const wrong: string[] = [];
    for (const version of VERSIONS) {
      const place = join(folder, version);
      mkdirSync(place);
      const lines = await runAgentOn(join(folder, "node_modules", `node-${version}`, "bin/node"), program, place);
      for (const line of lines) console.log(`Node ${version}  ${line.replace(folder, "")}`);
      const isRight =
        version === TOO_OLD
          ? lines.slice(0, -1).every((line) => line.includes(`needs Node ${OLDEST_NODE} or newer`))
          : lines.slice(0, -1).every((line) => line.includes(": 0, ")) && lines.at(-1)?.includes("complete log");
      if (!isRight) wrong.push(version);
    }
    console.log(
      wrong.length > 0 ? `not as it should be: ${wrong.join(", ")}` : `${VERSIONS.length} Nodes, all as named`,
    );
    return wrong.length === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
