/**
 * Returns the database with an organization's rows. To spread organizations across databases, change only this function
 * and `poolName`, because nothing else knows where an organization's data is.
 */
export const databaseOf = (env: Pick<Env, "DB">, _orgId: string): D1Database => env.DB;

/** Returns the database with the list of organizations. */
export const sharedDatabase = (env: Pick<Env, "DB">): D1Database => env.DB;
