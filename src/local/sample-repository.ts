import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PIPELINE_DEFAULTS } from "../protocol/pipeline.ts";

const PIPELINE = `# What Millrace runs for this repository. Variables are in the environment; secrets are masked in the log.
env:
  GREETING: hello from \${{ build.branch }}

steps:
  - name: Say hello
    run: |
      echo "$GREETING, build $MILLRACE_BUILD_NUMBER of \${{ repository.fullName }}"
      echo "region=$REGION stage=$STAGE owner=$OWNER shared=$SHARED"
  - name: Try to print the secrets
    run: |
      echo "organization: $ORG_TOKEN"
      echo "group:        $GROUP_TOKEN"
      echo "repository:   $REPO_TOKEN"
      echo "pipeline:     $PIPELINE_TOKEN"
  - name: Test
    run: bash test.sh

reports:
  junit: report.xml
artifacts:
  - { name: report, path: report.xml }
`;
const TEST = `set -eu
for n in 1 2 3; do echo "ok $n - the water runs"; done
{
  echo '<testsuite name="mill">'
  for n in 1 2 3; do printf '<testcase name="the water runs %s" time="0.0%s"/>\\n' $n $n; done
  echo '</testsuite>'
} > report.xml
`;

/** Creates a small git repository with a pipeline file in `folder`, unless it exists. @returns its clone URL */
export const makeSampleRepository = (folder: string): string => {
  const bare = join(folder, "sample.git");
  if (existsSync(join(bare, "HEAD"))) return `file://${bare}`;
  const work = join(folder, "sample");
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  writeFileSync(join(work, PIPELINE_DEFAULTS.configPath), PIPELINE);
  writeFileSync(join(work, "test.sh"), TEST);
  const author = ["-c", "user.name=Millrace", "-c", "user.email=sample@millrace.invalid", "-c", "commit.gpgsign=false"];
  // Ignore the developer's own hooks, because they are for other commits.
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "core.hooksPath=/dev/null", ...args], {
      cwd: work,
      stdio: ["ignore", "ignore", "pipe"],
    });
  git("init", "--quiet", "--initial-branch=main");
  git("add", ".");
  git(...author, "commit", "--quiet", "--message", "A first pipeline");
  git("clone", "--quiet", "--bare", work, bare);
  return `file://${bare}`;
};
