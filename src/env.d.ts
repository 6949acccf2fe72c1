/** The bindings of `wrangler.toml`. Secrets may be missing until they are put; whoever reads one says so clearly. */
interface Env {
  /** Absent where the settings are of a release before: the platform then serves the files first. */
  ASSETS: Fetcher | undefined;
  DB: D1Database;
  ARCHIVE: R2Bucket;
  AGENT_POOL: DurableObjectNamespace<import("./objects/pool/agent-pool.ts").AgentPool>;
  BUILD_LOG: DurableObjectNamespace<import("./objects/log/build-log.ts").BuildLog>;
  GIT_HOST: DurableObjectNamespace<import("./objects/host/git-host.ts").GitHostObject>;
  TOKEN_RATE: RateLimit;
  AGENT_RATE: RateLimit;
  HOOK_RATE: RateLimit;
  /** Absent where the settings are of a release before: the requests of an organization are then not counted. */
  ORGANIZATION_RATE: RateLimit | undefined;
  ARTIFACT_ORIGIN: string | undefined;
  CLONE_PROTOCOLS: string;
  DASHBOARD_ORIGINS: string;
  START_SECONDS: string;
  LEASE_SECONDS: string;
  HEARTBEAT_SECONDS: string;
  POLL_SECONDS: string;
  BUILD_DAYS: string;
  AUDIT_DAYS: string;
  AGENT_DAYS: string | undefined;
  TOKEN_REQUESTS_PER_MINUTE: string;
  AGENT_REQUESTS_PER_MINUTE: string;
  OPERATOR_TOKEN: string | undefined;
  TOKEN_KEYS: string | undefined;
  SECRETS_KEYS: string | undefined;
}

declare namespace Cloudflare {
  interface Env extends globalThis.Env {}
  interface GlobalProps {
    mainModule: typeof import("./worker.ts");
    durableNamespaces: "AgentPool" | "BuildLog" | "GitHost";
  }
}
