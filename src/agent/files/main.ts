import { serveFiles } from "./serve.ts";

/*
 * Starts the file helper for an agent that runs from its sources. This module loads a tenth of the sources. The bundle
 * starts the helper itself.
 */
const [, uid, gid] = process.argv.slice(2);
serveFiles(uid === undefined ? null : { uid: Number(uid), gid: Number(gid) });
