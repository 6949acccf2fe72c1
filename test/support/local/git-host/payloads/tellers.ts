import type { HostKind } from "../../../../../src/protocol/connection.ts";
import type { Teller } from "./event.ts";
import { gitea } from "./gitea.ts";
import { github } from "./github.ts";
import { gitlab } from "./gitlab.ts";

/** What each kind of host says of what happened. */
export const TELLERS: Record<HostKind, Teller> = { github, gitlab, gitea };
