import type { HostKind } from "../../../../../src/protocol/connection.ts";
import type { Teller } from "./event.ts";
import { gitea } from "./gitea.ts";
import { github } from "./github.ts";
import { gitlab } from "./gitlab.ts";

/** The events of each kind of host. */
export const TELLERS: Record<HostKind, Teller> = { github, gitlab, gitea };
