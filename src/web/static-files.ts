/**
 * Matches folders and files of `dist/assets`. Pages have no `.html` in their addresses. None of these paths matches a
 * route of the Worker.
 */
const STATIC =
  /^\/(?:$|(?:app\/static|docs|problems|schema)(?:\/|\.html$|$)|(?:agent|importer)[^/]*\.mjs(?:\.sha256)?$|openapi\.json$|THIRD-PARTY-NOTICES\.txt$)/;

/** Returns a static file, with the platform's headers; null if the file does not exist. */
export const staticFile = async (request: Request, { pathname }: URL, env: Env): Promise<Response | null> => {
  if (!env.ASSETS || !STATIC.test(pathname)) return null;
  const file = await env.ASSETS.fetch(request);
  return file.status === 404 ? null : file;
};
