/** Folders and files of `dist/assets`; pages have no `.html` in their addresses. No route of the Worker is like one. */
const STATIC =
  /^\/(?:$|(?:app\/static|docs|problems|schema)(?:\/|\.html$|$)|(?:agent|importer)[^/]*\.mjs(?:\.sha256)?$|openapi\.json$|THIRD-PARTY-NOTICES\.txt$)/;

/** A static file, with the headers that the platform gives it; null where there is none. */
export const staticFile = async (request: Request, { pathname }: URL, env: Env): Promise<Response | null> => {
  if (!env.ASSETS || !STATIC.test(pathname)) return null;
  const file = await env.ASSETS.fetch(request);
  return file.status === 404 ? null : file;
};
