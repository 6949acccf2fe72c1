/**
 * The database that has an organization's rows. To spread organizations over several, change this function and
 * `poolName`: nothing else knows where an organization lives.
 */
export const databaseOf = (env: Pick<Env, "DB">, _orgId: string): D1Database => env.DB;

/** The database that has the list of organizations. */
export const sharedDatabase = (env: Pick<Env, "DB">): D1Database => env.DB;
