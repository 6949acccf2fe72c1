import type { Operations } from "../documentation.ts";

/** Operations, by group. */
export const SOURCE_OPERATIONS: Record<string, Operations> = {
  Connections: {
    listConnections: { summary: "List connections" },
    createConnection: {
      summary: "Connect a git host",
      description:
        "With a token the service registers hooks and reports build statuses. It checks the token's account at the host before it stores anything. Without a token, people create the hooks: `GET /connection/{id}/hook` has the address and secret. With `app` the service acts as a GitHub App, and the App's webhook belongs to this connection.",
      versioned: true,
      problems: ["limit-reached"],
    },
    getConnection: { summary: "Get a connection", versioned: true },
    updateConnection: {
      summary: "Update a connection",
      description:
        "The stored token stays unless you send `token`; null removes it. The token is bound to the host's address: send it again with a new `webUrl` or `apiUrl`.",
      versioned: true,
      problems: ["conflict"],
    },
    deleteConnection: {
      summary: "Disconnect a git host",
      description:
        "Its repositories stay, without the connection. The service removes the hooks that it registered, as far as the host allows: the audit entry names the repositories that still have a hook. The request may be repeated.",
      versioned: true,
      problems: ["conflict"],
    },
    installConnection: {
      summary: "Find the GitHub App's installation",
      description:
        "Call it after a person has installed the App at GitHub, on the page at `pageUrl`. The service then acts as the App. It removes the hooks that it registered with a token where the App delivers, and `hooks` lists those that stay. The request may be repeated.",
      versioned: true,
      problems: ["conflict"],
    },
    rotateConnection: {
      summary: "Replace the hook's address and secret",
      description:
        "The old address then answers 410. The service updates the hooks that it registered at once, and the answer lists the updates that the host rejected. Change hooks that people created by hand.",
      versioned: true,
      problems: ["conflict"],
    },
    showHook: {
      summary: "Show the hook's address and secret",
      description:
        "The address and secret to enter in the host's hook settings. No other answer contains them, and the audit log records each read.",
    },
    listHostRepositories: {
      summary: "List the host's repositories",
      description:
        "The repositories that the token can read, one page of the host at a time. Without a token: the repositories in the last deliveries.",
      problems: ["conflict"],
    },
    linkRepository: {
      summary: "Connect a repository at the host",
      description:
        "Creates the repository's record, or uses the record with the same number or clone address. With a token, it also registers the hook. If the host rejects that, the service stores nothing, and `detail` names the missing permission. With `registersHook: false` people create the hook.",
      versioned: true,
      problems: ["duplicate", "conflict", "limit-reached"],
    },
    checkConnection: {
      summary: "Check a connection",
      description: "Checks at the host the token's account, its missing permissions, and whether each hook exists.",
      problems: ["conflict"],
    },
    listDeliveries: {
      summary: "List a git host's last deliveries",
      description:
        "Newest first, at most 200, each with the builds that it created, or why it created none. The list has no deliveries with a wrong signature.",
    },
    redeliverDelivery: {
      summary: "Redeliver a delivery",
      description:
        "Processes the delivery as if the host had sent it again, with the current pipelines. The service does not create the same build twice.",
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
        "Also deletes its pipelines, variables and clone credential. The service rejects the request while the repository has active builds.",
      versioned: true,
      problems: ["in-use", "conflict"],
    },
    setCredential: {
      summary: "Store a repository's clone credential",
      description:
        "Replaces the stored credential. Agents receive it only for the fetch. The API never returns its value.",
      problems: ["conflict"],
    },
    deleteCredential: { summary: "Delete the clone credential", problems: ["conflict"] },
    listFlakyTests: {
      summary: "List a repository's flaky tests",
      description:
        "Tests that failed and passed on the same commit within 14 days, except those that were not flaky in the default branch's last 5 builds.",
    },
    getTestHistory: { summary: "Get a test's last failures" },
    listCache: { summary: "List a repository's cache entries", description: "All entries, newest first." },
    emptyCache: {
      summary: "Empty a repository's cache",
      description: "Builds no longer find earlier entries, or the copies of them that agents keep.",
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
        "Returns all mistakes, each with its line and column. With a repository or pipeline, the check also finds missing variables and groups. For a file with jobs, it returns each job with the number of registered agents that can run it.",
    },
    listPipelineHistories: {
      summary: "List pipeline histories",
      description:
        "The last 30 ended builds of the default branch or of tags, and figures for the last seven days and the previous seven. The service counts them once a minute. The pipeline with the newest build comes first; pipelines without such builds are absent.",
    },
    getPipeline: { summary: "Get a pipeline", versioned: true },
    updatePipeline: { summary: "Update a pipeline", versioned: true, problems: ["duplicate", "conflict"] },
    deletePipeline: {
      summary: "Delete a pipeline and its variables",
      versioned: true,
      problems: ["in-use", "conflict"],
    },
    getPipelineHistory: { summary: "Get a pipeline's history" },
    previewEnvironment: {
      summary: "Preview a build's environment",
      description:
        "For each key: the scope that provides the value, and the variables that it overrides. Secret values are absent.",
      problems: ["too-large"],
    },
    createBadge: {
      summary: "Create a badge address",
      description:
        "The badge is an image of the newest build's result, for anyone with its address. `?branch=` selects a branch other than the default branch. The pipeline's previous address stops working.",
      problems: ["conflict"],
    },
    deleteBadge: { summary: "Revoke a badge address", problems: ["conflict"] },
  },
  Schedules: {
    listSchedules: { summary: "List schedules" },
    createSchedule: {
      summary: "Create a schedule",
      description:
        "`envVariables` override every other scope in its builds. The service stores them sealed and never returns them. After missed times, for example while the service was down, the schedule creates one build.",
      versioned: true,
      problems: ["duplicate", "limit-reached"],
    },
    getSchedule: { summary: "Get a schedule", versioned: true },
    updateSchedule: {
      summary: "Update a schedule",
      description: "A schedule from the pipeline file can only be switched off and on.",
      versioned: true,
      problems: ["duplicate", "conflict"],
    },
    deleteSchedule: {
      summary: "Delete a schedule",
      description: "To delete a schedule from the pipeline file, remove it from the file.",
      versioned: true,
      problems: ["conflict"],
    },
    listNextTimes: {
      summary: "List a schedule's next times",
      description: "A schedule that is off has times too, but creates no builds.",
    },
  },
};
