import type { Row } from "./row.ts";
import { CANARY, UUID } from "./stage.ts";

export const TOKENS: Row[] = [
  ...[
    { kind: "agent" },
    { kind: "api", role: "owner" },
    { kind: "api", labels: ["x"] },
    { kind: "registration", role: "admin" },
    { kind: "api", expiresAt: "2020-01-01T00:00:00Z" },
    { kind: "api", expiresAt: CANARY },
    { kind: "api", id: UUID },
    { kind: "api", name: "" },
  ].map(
    (change): Row => ({
      ...{ is: `a token with ${JSON.stringify(change)}`, path: "/token", body: { name: "t", ...change } },
      ...{ status: 422, kind: "invalid" },
    }),
  ),
];
