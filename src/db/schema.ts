/* Times are ISO 8601 text, so that they sort and read the same everywhere. Times of builds are milliseconds. */

export * from "./schema/builds.ts";
export * from "./schema/git-hosts.ts";
export * from "./schema/operation.ts";
export * from "./schema/organizations.ts";
export * from "./schema/repositories.ts";
export * from "./schema/variables.ts";
