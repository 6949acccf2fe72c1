import type { HostKind } from "../../protocol/connection.ts";
import type { Child } from "../shell/markup.ts";

/** The words that a person reads, clicks and types at a git host. */
interface GitHostWords {
  title: string;
  /** The services and programs that a person can connect. */
  reach: string;
  /** The usual address; empty if each installation has its own address. */
  address: string;
  /** Where to create a token, and which permissions it needs. */
  token: Child;
  /** The page on which a person creates a repository's hooks: its path below the repository's address. */
  hookPath: string;
  /** The steps on that page, with the names of its fields. */
  hookSteps: Child[];
  /** The path of the full guide, which this service serves. */
  guide: string;
  /** Whether an organization can have its own App at the host. */
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
        and <code>admin:repo_hook</code>. A fine-grained token needs the repository permissions Webhooks and Commit
        statuses: read and write, and Metadata: read.
      </>
    ),
    guide: "/docs/connect/github.md",
    hasApps: true,
    hookPath: "settings/hooks/new",
    hookSteps: [
      <>
        <Word>Payload URL</Word>: the URL below. <Word>Content type</Word>: application/json.
      </>,
      <>
        <Word>Secret</Word>: the secret below. Leave SSL verification on.
      </>,
      <>
        <Word>Let me select individual events</Word>: Pushes, Pull requests, Repositories, and, if you use a merge
        queue, Merge groups.
      </>,
      <>
        Leave it <Word>Active</Word> and press <Word>Add webhook</Word>. GitHub sends a ping at once, which appears
        under Deliveries.
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
        the scope <code>api</code>, and the role Maintainer in the projects whose webhooks it creates.
      </>
    ),
    guide: "/docs/connect/gitlab.md",
    hasApps: false,
    hookPath: "-/hooks",
    hookSteps: [
      <>
        <Word>Add new webhook</Word>. <Word>URL</Word>: the URL below.
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
        <Word>Target URL</Word>: the URL below. <Word>HTTP method</Word> POST, <Word>POST content type</Word>{" "}
        application/json.
      </>,
      <>
        <Word>Secret</Word>: the secret below.
      </>,
      <>
        <Word>Trigger on</Word>: Custom events: Create, Delete, Push, and for pull requests: Modification, Synchronized,
        Labeled. Leave the <Word>branch filter</Word> as it is.
      </>,
      <>
        Leave it <Word>Active</Word> and press <Word>Add webhook</Word>.
      </>,
    ],
  },
};

const KINDS = Object.keys(GIT_HOSTS) as HostKind[];
/** The kinds in the order of the page. */
export const HOST_KINDS = KINDS;

/** Returns the kind with this name; undefined if there is no such kind. */
export const kindNamed = (text: string | null): HostKind | undefined => KINDS.find((kind) => kind === text);
