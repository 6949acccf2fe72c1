import { LIMITS } from "../../../src/protocol/limits.ts";
import type { Row } from "./row.ts";
import { CANARY } from "./stage.ts";

const repository = (is: string, change: object, pointer: string): Row => ({
  is: `a repository with ${is}`,
  path: "/repository",
  body: { gitHostRepoId: 99, fullName: "acme/x", cloneUrl: "https://git.example/acme/x.git", ...change },
  ...{ status: 422, kind: "invalid", pointer },
});

export const REPOSITORIES: Row[] = [
  ...[
    ...[`ext::sh -c ${CANARY}% .git`, `--upload-pack=${CANARY}.git`, "ssh://-oProxyCommand=x/acme/x.git"],
    ...[
      `https://user:${CANARY}@git.example/x.git`,
      `https://${CANARY}:@git.example/x.git`,
      "https://git.example/x%0a.git",
    ],
    ...[
      "https://git.example/x%0A.git",
      "https://git.example:99999/x",
      "https://github.com/x/y/tree/main",
      "ftp://git.example/x.git",
      "git://git.example/x.git",
    ],
    ...[
      "fd::17/x.git",
      "https://-git.example/x.git",
      "git@-host:x.git",
      "https://git.example/x.git\n",
      "//x.git",
      "x.git",
    ],
    ...["https://git.example/\u0000.git", "https:///x.git", "http://git.example/x.git"],
  ].map((cloneUrl) => repository(`the clone address ${JSON.stringify(cloneUrl)}`, { cloneUrl }, "/cloneUrl")),
  ...[
    "x",
    "acme/",
    "/x",
    "acme/../x",
    "acme/./x",
    "acme//x",
    "acme/x y",
    "acme/x\n",
    "a".repeat(LIMITS.fullNameCharacters + 1),
  ].map((fullName) => repository(`the name ${JSON.stringify(fullName).slice(0, 40)}`, { fullName }, "/fullName")),
  repository("a string as host id", { gitHostRepoId: "7" }, "/gitHostRepoId"),
  repository("a fractional host id", { gitHostRepoId: 1.5 }, "/gitHostRepoId"),
  repository("a negative host id", { gitHostRepoId: -1 }, "/gitHostRepoId"),
  repository("a host id above the largest exact number", { gitHostRepoId: 2 ** 53 }, "/gitHostRepoId"),
  repository("a default branch that looks like an option", { defaultBranch: "-x" }, "/defaultBranch"),
  repository("a default branch with two dots", { defaultBranch: "a..b" }, "/defaultBranch"),
  repository("another organization", { orgId: "somebody-else" }, "/orgId"),
];
