import { LIMITS } from "../../../src/protocol/limits.ts";
import type { ProblemKind } from "../../../src/protocol/problem.ts";
import type { Row } from "./row.ts";
import { CANARY, own } from "./stage.ts";

const registration = (is: string, change: object, status: number, kind: ProblemKind, pointer?: string): Row => ({
  ...{ is: `a registration with ${is}`, as: () => own.token, path: "/buildagent/register", status, kind, pointer },
  body: {
    ...{ name: "a", platform: 2, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: true },
    ...change,
  },
});

export const REGISTRATIONS: Row[] = [
  registration("a label that its token does not allow", { labels: [CANARY] }, 422, "invalid", "/labels"),
  registration("an unknown platform", { platform: 4 }, 422, "invalid", "/platform"),
  registration("a platform name instead of a number", { platform: "linux" }, 422, "invalid", "/platform"),
  registration("a missing capability", { canBuildIOS: undefined }, 422, "invalid", "/canBuildIOS"),
  registration("a two-line name", { name: `${CANARY}\n` }, 422, "invalid", "/name"),
  registration("no name", { name: "" }, 422, "invalid", "/name"),
  registration("a name that is too long", { name: "x".repeat(LIMITS.nameCharacters + 1) }, 422, "invalid", "/name"),
  registration("a two-line version", { version: `${CANARY}\n` }, 422, "invalid", "/version"),
];
