import { serveFiles } from "./serve.ts";

/* The file helper for an agent that runs from its sources: this loads a tenth of them. The bundle starts itself. */
const [, uid, gid] = process.argv.slice(2);
serveFiles(uid === undefined ? null : { uid: Number(uid), gid: Number(gid) });
