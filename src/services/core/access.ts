import { includesRole, type Role, type TokenKind } from "../../protocol/token.ts";
import { Refusal } from "./refusal.ts";

/** Who may call a verb: people and programs from a role upwards, the operator, registrations, agents. */
export interface Access {
  role?: Role;
  operator?: true;
  registration?: true;
  agent?: true;
}

export type CallerKind = "api" | "operator" | "registration" | "agent";

/** What the token says of itself: its tag was verified, but whether it is live only its owner knows. */
export interface Caller {
  kind: CallerKind;
  orgId: string;
  tokenHash: string;
  /** The signed-in person's session, where the token comes from one. */
  sessionId?: string;
}

/** A caller whose token is live and may call the verb. `labels` are those a registration may grant at most. */
export interface Admitted {
  actor: string;
  kind: CallerKind;
  role: Role | null;
  labels: string[] | null;
  agentId: string | null;
  /** The token that calls, with the name it has now; null for the operator and agents. */
  token: { id: string; name: string; kind: TokenKind } | null;
}

/** @throws Refusal forbidden */
export const checkAccess = (access: Access, kind: CallerKind, role: Role | null): void => {
  const allowed =
    kind === "api"
      ? access.role !== undefined && role !== null && includesRole(role, access.role)
      : access[kind] === true;
  if (!allowed) throw new Refusal("forbidden", describe(access));
};

const describe = ({ role, operator, registration, agent }: Access): string => {
  const may = [
    role && `a token with role ${role} or more`,
    registration && "a registration token",
    agent && "an agent's own token",
    operator && "the operator's token",
  ].filter((text) => text);
  return `This needs ${may.join(", or ")}.`;
};
