import type { Row } from "./row.ts";

/** Each character is invisible, or changes the direction of the surrounding text. */
const UNSEEN = [0x061c, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2060, 0x2066, 0x2069, 0xfeff];

const named = (path: string, pointer: string, body: (name: string) => object): Row[] =>
  UNSEEN.map((point) => ({
    is: `${path} ${pointer} with U+${point.toString(16)}`,
    ...{ path, body: body(`a${String.fromCodePoint(point)}b`) },
    ...{ status: 422, kind: "invalid", pointer },
  }));

const repository = { gitHostRepoId: 99, fullName: "acme/x", cloneUrl: "https://git.example/acme/x.git" };
const agent = { platform: 2, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: true };
const ANY = "019a4d20-7c00-7000-8000-000000000001";

export const NAMES: Row[] = [
  ...named("/secrets/groups", "/name", (name) => ({ name })),
  ...named("/token", "/name", (name) => ({ name, kind: "api" })),
  ...named("/pipeline", "/name", (name) => ({ name, repoId: ANY })),
  ...named("/pipeline", "/configPath", (configPath) => ({ name: "x", configPath, repoId: ANY })),
  ...named("/buildagent/register", "/name", (name) => ({ name, ...agent })),
  ...named("/repository", "/defaultBranch", (defaultBranch) => ({ ...repository, defaultBranch })),
  ...named("/build", "/branch", (branch) => ({ repoId: ANY, branch })),
];
