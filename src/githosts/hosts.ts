import type { HostKind } from "../protocol/connection.ts";
import type { GitHost } from "./core/git-host.ts";
import { GITEA } from "./gitea/gitea.ts";
import { GITHUB } from "./github/github.ts";
import { GITLAB } from "./gitlab/gitlab.ts";

/**
 * Every kind of git host. Code that depends on the kind uses its value. The interface of the value says how to add a
 * kind.
 */
export const HOSTS: Record<HostKind, GitHost> = { github: GITHUB, gitlab: GITLAB, gitea: GITEA };

/** Reports whether a text names a kind of git host. */
export const isHostKind = (text: string): text is HostKind => Object.hasOwn(HOSTS, text);
