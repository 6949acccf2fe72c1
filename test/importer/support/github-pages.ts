const DOCS = "https://docs.github.com/en/actions/reference/workflows-and-actions";

/** The pages that document the behaviour of GitHub and its actions. */
export const PAGES = {
  syntax: `${DOCS}/workflow-syntax`,
  expressions: `${DOCS}/expressions`,
  contexts: `${DOCS}/contexts`,
  variables: `${DOCS}/variables`,
  commands: `${DOCS}/workflow-commands`,
  actions: `${DOCS}/metadata-syntax`,
  environments: "https://docs.github.com/en/actions/how-tos/deploy/configure-and-manage-deployments/review-deployments",
  filter: "https://github.com/dorny/paths-filter#readme",
  events: `${DOCS}/events-that-trigger-workflows`,
  checkout: "https://github.com/actions/checkout#readme",
  upload: "https://github.com/actions/upload-artifact#readme",
  download: "https://github.com/actions/download-artifact#readme",
  cache: "https://github.com/actions/cache/tree/main/restore#readme",
} as const;
