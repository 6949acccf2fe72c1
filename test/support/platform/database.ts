import { type Cross, PlatformError } from "./crossing.ts";

type Fetch = (url: string, init: { body: string }) => Promise<Response>;

/** Sends the requests of D1's client, one for each batch or query. */
interface Client {
  fetcher: { fetch: Fetch };
  alwaysPrimarySession: { fetcher: { fetch: Fetch } };
}

/** Wraps the connection between D1's client and the database: below prepared statements, batches and sessions alike. */
export const standBeforeDatabase = (db: D1Database, cross: Cross): { aside: D1Database; leave: () => void } => {
  const client = db as unknown as Client;
  const { fetcher } = client;
  const fetch: Fetch = async (url, init) => {
    const asked = [JSON.parse(init.body)].flat() as { sql: string }[];
    const crossing = { part: "DB", method: "query", name: "", statements: asked.map(({ sql }) => sql) } as const;
    try {
      return await cross(crossing, () => fetcher.fetch(url, init));
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      // The client turns this into "D1_ERROR: ...".
      return Response.json({ success: false, error: error.message }, { status: 500 });
    }
  };
  const sendWith = (by: Client["fetcher"]) => {
    client.fetcher = by;
    client.alwaysPrimarySession.fetcher = by;
  };
  sendWith({ fetch });
  const Database = db.constructor as new (by: Client["fetcher"]) => D1Database;
  return { aside: new Database(fetcher), leave: () => sendWith(fetcher) };
};
