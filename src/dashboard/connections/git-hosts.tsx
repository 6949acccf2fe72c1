import type { HostKind } from "../../protocol/connection.ts";
import type { Child } from "../shell/markup.ts";

/** What a person reads, clicks and types at a git host. */
interface GitHostWords {
  title: string;
  /** Which of its services and programs can be connected. */
  reach: string;
  /** The address that most people mean; empty where each has an own one. */
  address: string;
  /** Where a token is made there, and what it must be allowed. */
  token: Child;
  /** Where a repository's hooks are made: below its address. */
  hookPath: string;
  /** The steps after that page is open, with the words of its fields. */
  hookSteps: Child[];
  /** Where this service serves the file that says all of it at length. */
  guide: string;
  /** Whether an organization can have an App of its own there. */
  hasApps: boolean;
}

const Word = ({ children }: { children?: Child }) => <strong>{children}</strong>;

export const GIT_HOSTS: Record<HostKind, GitHostWords> = {
  github: {
    title: "GitHub",
    reach: "github.com and GitHub Enterprise Server",
    address: "https://github.com",
    token: (
      <>
        GitHub: Settings, Developer settings, Personal access tokens. A classic token needs the scopes <code>repo</code>{" "}
        and <code>admin:repo_hook</code>. A fine-grained one needs, for its repositories, Webhooks and Commit statuses:
        read and write, and Metadata: read.
      </>
    ),
    guide: "/docs/connect/github.md",
    hasApps: true,
    hookPath: "settings/hooks/new",
    hookSteps: [
      <>
        <Word>Payload URL</Word>: the address below. <Word>Content type</Word>: application/json.
      </>,
      <>
        <Word>Secret</Word>: the secret below. Leave SSL verification on.
      </>,
      <>
        <Word>Let me select individual events</Word>: Pushes, Pull requests, Repositories, and Merge groups where a
        merge queue is used.
      </>,
      <>
        Leave it <Word>Active</Word> and press <Word>Add webhook</Word>. GitHub sends a ping at once, which appears in
        the list of deliveries.
      </>,
    ],
  },
  gitlab: {
    title: "GitLab",
    reach: "gitlab.com and your own GitLab",
    address: "https://gitlab.com",
    token: (
      <>
        GitLab: your avatar, Edit profile, Access tokens; or Settings, Access tokens of a group or a project. It needs
        the scope <code>api</code>, and the role Maintainer in the projects whose hooks it makes.
      </>
    ),
    guide: "/docs/connect/gitlab.md",
    hasApps: false,
    hookPath: "-/hooks",
    hookSteps: [
      <>
        <Word>Add new webhook</Word>. <Word>URL</Word>: the address below.
      </>,
      <>
        <Word>Secret token</Word>: the secret below.
      </>,
      <>
        <Word>Trigger</Word>: Push events (all branches), Tag push events, Merge request events. Leave SSL verification
        on.
      </>,
      <>
        Press <Word>Add webhook</Word>, then <Word>Test</Word> it with a push.
      </>,
    ],
  },
  gitea: {
    title: "Gitea or Forgejo",
    reach: "your own Gitea or Forgejo, and codeberg.org",
    address: "",
    token: (
      <>
        Gitea and Forgejo: Settings, Applications, Generate new token, with the permissions <code>repository</code>:
        read and write, and <code>user</code>: read. Its owner must be an administrator of the repositories.
      </>
    ),
    guide: "/docs/connect/gitea.md",
    hasApps: false,
    hookPath: "settings/hooks",
    hookSteps: [
      <>
        <Word>Add webhook</Word>, and choose Gitea, or Forgejo.
      </>,
      <>
        <Word>Target URL</Word>: the address below. <Word>HTTP method</Word> POST, <Word>POST content type</Word>{" "}
        application/json.
      </>,
      <>
        <Word>Secret</Word>: the secret below.
      </>,
      <>
        <Word>Trigger on</Word>: Custom events: Create, Delete, Push, and of pull requests: Modification, Synchronized,
        Labeled. Leave the <Word>branch filter</Word> as it is.
      </>,
      <>
        Leave it <Word>Active</Word> and press <Word>Add webhook</Word>.
      </>,
    ],
  },
};

const KINDS = Object.keys(GIT_HOSTS) as HostKind[];
/** In the order in which they are offered. */
export const HOST_KINDS = KINDS;

/** The kind that an address names; undefined where it names none. */
export const kindNamed = (text: string | null): HostKind | undefined => KINDS.find((kind) => kind === text);
