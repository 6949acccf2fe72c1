import type { Words } from "./schema-words.ts";

export const CONNECTIONS: Words = {
  Connection: {
    is: "A git host that an organization is connected to.",
    fields: {
      id: "Id of the connection.",
      orgId: "Id of the organization.",
      kind: "What the host runs. It never changes.",
      name: "Name for people.",
      webUrl: "Address of the host's pages, such as https://github.com. Repositories are cloned from below it.",
      apiUrl: "Address of its API. Default: derived from webUrl and kind.",
      auth: "How the service proves to the host who asks. app: as a GitHub App of the organization. token: by an access token of the host. none: not at all, so people make the hooks and the host is told nothing.",
      hasToken: "true: a token is stored.",
      appId: "Number of the GitHub App; null without one.",
      installationId: "Where the App is installed; null until it is.",
      account:
        "The account that the token is of, or that the App is installed for, as the host said when it was stored; null without one.",
      hookGeneration: "How often the hook's address was replaced, from 1.",
      isActive: "true: deliveries are taken. false: the hook's address answers 410.",
      createdAt: "Time of creation.",
      updatedAt: "Time of the last change.",
    },
  },
  NewConnection: {
    is: "A git host to connect.",
    like: "Connection",
    fields: {
      token: "Access token of the host. Stored sealed, bound to the host's address, and never returned.",
      app: "A GitHub App that exists already; it belongs to this connection alone.",
      "app.id": "The App ID, or the client ID.",
      "app.privateKey":
        "The private key that GitHub made for it, as PEM. Stored sealed, bound to the host's address, and never returned.",
    },
  },
  ConnectionUpdate: {
    is: "A change of a connection.",
    like: "Connection",
    fields: {
      token: "Another access token; null removes the stored one. Left out: it stays.",
      app: "Another key of the App, or an App for a connection that has none.",
      "app.id": "The App ID, or the client ID. Default: that of the App as it is.",
      "app.privateKey": "The private key that GitHub made for it, as PEM.",
    },
  },
  ConnectionHook: {
    is: "What to type where the host makes hooks.",
    fields: {
      url: "Address of the hook. It names this connection, and nobody can guess it.",
      secret: "Proves that the host sent a delivery.",
    },
  },
  HostKind: {
    is: "What a git host runs: github also for Enterprise Server, gitlab, gitea also for Forgejo.",
  },
  HookOutcome: {
    is: "The hook of one repository.",
    fields: {
      repositoryId: "Id of the repository.",
      fullName: "Its owner and name.",
      problem: "What is wrong with the hook, or why the host did not take a change; null if nothing is.",
    },
  },
  InstalledConnection: {
    is: "The connection, where its App is installed, and what became of the hooks of before.",
    like: "Connection",
    fields: {
      pageUrl: "The page of the App at GitHub, where people install it; null where GitHub does not tell it.",
      hooks:
        "One for each hook that the service registered by a token: `problem` says why it is still there. Empty where there is none.",
    },
  },
  RotatedConnection: {
    is: "The connection, and what became of the hooks that the service registered.",
    like: "Connection",
    fields: {
      hooks: "One for each of those hooks: `problem` says why the host still has the address before.",
    },
  },
  HostRepository: {
    is: "A repository at the git host.",
    fields: {
      hostRepoId: "Its number there: the repository's gitHostRepoId.",
      fullName: "Owner and name.",
      defaultBranch: "Its default branch; null where it has none yet.",
      cloneUrl: "The clone address that its record gets.",
      isPrivate: "true: the host does not show it to everybody. null: not known.",
      repositoryId: "Id of the repository that is connected to it; null if none is.",
    },
  },
  LinkedRepository: {
    is: "A repository of the host to connect, named by hostRepoId, fullName or both.",
    fields: {
      hostRepoId: "Its number at the host. Required where the connection has no token.",
      fullName: "Owner and name at the host.",
      defaultBranch: "The branch of a build whose trigger names none. Default: what the host says, else main.",
      registersHook: "true or left out: with a token the service registers the hook. false: people do.",
    },
  },
  ConnectionCheck: {
    is: "What the host says of a connection.",
    fields: {
      isOk: "true: nothing is wrong now. `givenUp` has what was wrong before.",
      problem: "Why the host cannot be asked; null where it can, and without a token.",
      account: "The account that the token is of; null where the host was not asked.",
      scopes: "What the token may do, in the host's words; null where the host does not tell.",
      missing: "What the token lacks, a sentence each.",
      hooks: "The hooks that the service registered.",
      waiting: "Number of states of builds that the host has still to be told.",
      waitingSince: "Since when the first of them waits; null if none does.",
      trouble: "Why the host is told nothing at the moment; null if nothing is wrong.",
      givenUp: "The last states that the host did not take, and that are not tried again.",
      "givenUp[].fullName": "Owner and name of the repository.",
      "givenUp[].sha": "The commit.",
      "givenUp[].context": "Name of the status at the host.",
      "givenUp[].buildId": "Id of the build.",
      "givenUp[].reason": "Why it was given up.",
      "givenUp[].at": "When.",
      differences:
        "What the host says otherwise of repositories than their records: another default branch, another name than that of the clone address. It may be meant so, and leaves isOk as it is.",
      "differences[].repositoryId": "Id of the repository.",
      "differences[].fullName": "Its name at the host.",
      "differences[].detail": "What differs, and what to do.",
      lastDeliveryAt: "When the host last sent something; null if it never did.",
    },
  },
};
