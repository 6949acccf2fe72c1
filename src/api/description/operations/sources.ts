import type { Operations } from "../documentation.ts";

/** Operations, by group. */
export const SOURCE_OPERATIONS: Record<string, Operations> = {
  Connections: {
    listConnections: { summary: "List connections" },
    createConnection: {
      summary: "Connect a git host",
      description:
        "With a token the service registers hooks and reports the states of builds; the host is asked whose token it is before anything is stored. Without one, people make the hooks: `GET /connection/{id}/hook` says what to type. With `app` it acts as a GitHub App, whose webhook then is this connection's.",
      versioned: true,
      problems: ["limit-reached"],
    },
    getConnection: { summary: "Get a connection", versioned: true },
    updateConnection: {
      summary: "Update a connection",
      description:
        "The stored token stays unless `token` is sent: null removes it. It is bound to the host's address, so another `webUrl` or `apiUrl` needs the token again.",
      versioned: true,
      problems: ["conflict"],
    },
    deleteConnection: {
      summary: "Disconnect a git host",
      description:
        "Its repositories stay, without the connection. The hooks that the service registered are removed as far as the host allows it: the audit entry names the repositories that still have one. May be repeated.",
      versioned: true,
      problems: ["conflict"],
    },
    installConnection: {
      summary: "Find where the GitHub App is installed",
      description:
        "After a person has installed the App at GitHub, on the page that `pageUrl` names. From then on the service acts as the App; hooks that it registered by a token before are removed where the App delivers, and `hooks` says which stay. May be repeated.",
      versioned: true,
      problems: ["conflict"],
    },
    rotateConnection: {
      summary: "Replace the hook's address and secret",
      description:
        "The address before answers 410 from then on. Hooks that the service registered are told the new one at once, and the answer says which of them the host did not take; hooks made by hand have to be changed by hand.",
      versioned: true,
      problems: ["conflict"],
    },
    showHook: {
      summary: "Show the hook's address and secret",
      description: "What to type where the host makes hooks. No other answer has it, and each time is in the audit.",
    },
    listHostRepositories: {
      summary: "List the repositories of the host",
      description:
        "What the token lets the service see, a page of the host at a time. Without a token: the repositories that the last deliveries named.",
      problems: ["conflict"],
    },
    linkRepository: {
      summary: "Connect a repository of the host",
      description:
        "Makes the repository's record, or takes the one with the same number or clone address, and registers the hook where there is a token. If the host refuses, nothing is stored and `detail` says which right is missing; with `registersHook: false` the hook is left to people.",
      versioned: true,
      problems: ["duplicate", "conflict", "limit-reached"],
    },
    checkConnection: {
      summary: "Try a connection",
      description: "Asks the host whose token it is, what the token lacks, and whether each hook is there.",
      problems: ["conflict"],
    },
    listDeliveries: {
      summary: "List the last deliveries of a git host",
      description:
        "The newest first, at most 200: what each made, or why it made nothing. Deliveries whose signature is wrong are not among them.",
    },
    redeliverDelivery: {
      summary: "Take a delivery once more",
      description:
        "As if the host had sent it again, with the pipelines as they are now. Builds that it made already are not made twice.",
      problems: ["conflict"],
    },
  },
  Repositories: {
    listRepositories: { summary: "List repositories" },
    connectRepository: { summary: "Connect a repository", versioned: true, problems: ["duplicate", "limit-reached"] },
    getRepository: { summary: "Get a repository", versioned: true },
    updateRepository: {
      summary: "Update a repository",
      versioned: true,
      problems: ["duplicate", "in-use", "conflict"],
    },
    deleteRepository: {
      summary: "Disconnect a repository",
      description:
        "Also deletes its pipelines, variables and clone credential. Refused while the repository has active builds.",
      versioned: true,
      problems: ["in-use", "conflict"],
    },
    setCredential: {
      summary: "Store the clone credential of a repository",
      description: "Replaces the stored credential. Agents receive it for the fetch only. Its value is never returned.",
      problems: ["conflict"],
    },
    deleteCredential: { summary: "Delete the clone credential", problems: ["conflict"] },
    listFlakyTests: {
      summary: "List the flaky tests of a repository",
      description:
        "Tests that failed and passed on the same commit within 14 days, but for those that were not flaky in the last 5 builds of the default branch.",
    },
    getTestHistory: { summary: "Get the last failures of a test" },
    listCache: { summary: "List the cache of a repository", description: "All entries, the newest first." },
    emptyCache: {
      summary: "Empty the cache of a repository",
      description: "No build finds an earlier entry any more, and none of the copies that agents keep.",
    },
  },
  Pipelines: {
    listPipelines: { summary: "List pipelines" },
    createPipeline: {
      summary: "Create a pipeline",
      description:
        "The first pipeline of a repository becomes its default. `groupIds` are in order: a later group overrides an earlier one.",
      versioned: true,
      problems: ["duplicate", "limit-reached"],
    },
    checkPipeline: {
      summary: "Check a pipeline file without storing or running it",
      description:
        "Returns all mistakes, each with its line and column. With a repository or pipeline, the check also finds variables and groups that do not exist. For a file with jobs it returns them, with how many registered agents could take each.",
    },
    listPipelineHistories: {
      summary: "List the histories of pipelines",
      description:
        "The last 30 ended builds of the default branch or of tags, and what the last seven days and the seven before were like: counted once a minute. The pipeline with the newest build comes first; one without such builds is absent.",
    },
    getPipeline: { summary: "Get a pipeline", versioned: true },
    updatePipeline: { summary: "Update a pipeline", versioned: true, problems: ["duplicate", "conflict"] },
    deletePipeline: {
      summary: "Delete a pipeline and its variables",
      versioned: true,
      problems: ["in-use", "conflict"],
    },
    getPipelineHistory: { summary: "Get the history of a pipeline" },
    previewEnvironment: {
      summary: "Preview the environment of a build",
      description:
        "For each key: the scope that provides the value, and what it overrides. The values of secrets are absent.",
      problems: ["too-large"],
    },
    createBadge: {
      summary: "Make the address of a badge",
      description:
        "An image of how the newest build ended, for whoever has its address: `?branch=` names another branch than the default one. An address that was made before shows nothing any more.",
      problems: ["conflict"],
    },
    deleteBadge: { summary: "Revoke the address of a badge", problems: ["conflict"] },
  },
  Schedules: {
    listSchedules: { summary: "List schedules" },
    createSchedule: {
      summary: "Create a schedule",
      description:
        "`envVariables` override every other scope in its builds; they are stored sealed and never returned. Any number of times that were missed, as while the service was down, is one build.",
      versioned: true,
      problems: ["duplicate", "limit-reached"],
    },
    getSchedule: { summary: "Get a schedule", versioned: true },
    updateSchedule: {
      summary: "Update a schedule",
      description: "A schedule of the pipeline's file can only be switched off and on.",
      versioned: true,
      problems: ["duplicate", "conflict"],
    },
    deleteSchedule: {
      summary: "Delete a schedule",
      description: "One of the pipeline's file is deleted there.",
      versioned: true,
      problems: ["conflict"],
    },
    listNextTimes: {
      summary: "List the next times of a schedule",
      description: "Also of one that is off: then nothing is built at them.",
    },
  },
};
