import { includesRole, type Role, type TokenKind } from "../../protocol/token.ts";
import { Refusal } from "./refusal.ts";

/** Which callers may use a verb; `role` is the least role of an API token. */
export interface Access {
  role?: Role;
  operator?: true;
  registration?: true;
  agent?: true;
  /** A git host, which has proved that it knows the secret of its hook. */
  connection?: true;
}

export type CallerKind = "api" | "operator" | "registration" | "agent" | "connection";

/**
 * The caller as its token says. The token's tag is verified; whether it is still valid, `Admission` checks. A git host's
 * proof is checked before there is a caller; whether the connection is still there, whoever reads its row.
 */
export interface Caller {
  kind: CallerKind;
  orgId: string;
  tokenHash: string;
  /** The dashboard session that holds the token, if one does. */
  sessionId?: string;
  /** The connection that a git host sends for. */
  connectionId?: string;
}

/** A caller with a valid token who may call the verb. `labels` are those that a registration token may grant. */
export interface Admitted {
  actor: string;
  kind: CallerKind;
  role: Role | null;
  labels: string[] | null;
  agentId: string | null;
  /** The API or registration token; null for the operator and agents. */
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

const describe = ({ role, operator, registration, agent, connection }: Access): string => {
  const may = [
    role && `a token with role ${role} or more`,
    registration && "a registration token",
    agent && "an agent's own token",
    operator && "the operator's token",
    connection && "a git host's signature",
  ].filter((text) => text);
  return `This needs ${may.join(", or ")}.`;
};
