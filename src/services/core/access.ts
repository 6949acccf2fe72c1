import { includesRole, type Role, type TokenKind } from "../../protocol/token.ts";
import { Refusal } from "./refusal.ts";

/** The callers that may use a verb. `role` is the lowest role that an API token needs. */
export interface Access {
  role?: Role;
  operator?: true;
  registration?: true;
  agent?: true;
  /** Admits a git host that proved that it knows its hook's secret. */
  connection?: true;
}

export type CallerKind = "api" | "operator" | "registration" | "agent" | "connection";

/**
 * The caller as its token states. The service has verified the token's tag; `Admission` checks that the token is still
 * valid. A git host proves itself before a caller exists. The code that reads the connection's row checks that the
 * connection still exists.
 */
export interface Caller {
  kind: CallerKind;
  orgId: string;
  tokenHash: string;
  /** The dashboard session that holds the token, if any. */
  sessionId?: string;
  /** The connection of the git host that sends the request. */
  connectionId?: string;
}

/** A caller with a valid token who may call the verb. `labels` are the labels that a registration token may grant. */
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
  return `This requires ${may.join(", or ")}.`;
};
