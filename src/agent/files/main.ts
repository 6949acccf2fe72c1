import { serveFiles } from "./serve.ts";

/* The file helper of an agent that runs from its sources, of which this loads a tenth. The bundle starts itself. */
const [, uid, gid] = process.argv.slice(2);
serveFiles(uid === undefined ? null : { uid: Number(uid), gid: Number(gid) });
