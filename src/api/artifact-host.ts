import { Hono, type Context as HonoContext } from "hono";
import { notFound, Refusal } from "../services/core/refusal.ts";
import { fileAt, openAddress } from "../services/uploads/artifact-shares.ts";
import type { AppEnv } from "../web/app-env.ts";
import { bytesAnswer } from "../web/artifact-bytes.ts";
import { problemResponse, toRefusal } from "../web/problems.ts";
import { requestId, requestLog } from "../web/request-log.ts";

/**
 * Media types by file extension, for the usual files of reports. A file with any other extension is served as bytes.
 */
const TYPES: Record<string, string> = {
  html: "text/html; charset=utf-8",
  htm: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  mjs: "text/javascript; charset=utf-8",
  json: "application/json",
  map: "application/json",
  xml: "application/xml",
  txt: "text/plain; charset=utf-8",
  log: "text/plain; charset=utf-8",
  md: "text/plain; charset=utf-8",
  csv: "text/csv; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  ico: "image/x-icon",
  woff: "font/woff",
  woff2: "font/woff2",
  ttf: "font/ttf",
  otf: "font/otf",
  mp4: "video/mp4",
  webm: "video/webm",
  pdf: "application/pdf",
  wasm: "application/wasm",
};

const guessMediaType = (name: string): string => {
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  return (Object.hasOwn(TYPES, ending) ? TYPES[ending] : undefined) ?? "application/octet-stream";
};

/**
 * Build pages run their scripts without an origin of their own. They have no cookies and no storage, and cannot access
 * each other or the service. They can read their own files, as can anyone with the pages' address.
 */
const HEADERS = {
  "Content-Security-Policy": "sandbox allow-scripts allow-popups",
  "Access-Control-Allow-Origin": "*",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "private, no-store",
};

/** Answers with an artifact's file for a browser. For a folder, answers with the folder's `index.html`. */
const showFile = async (c: HonoContext<AppEnv>): Promise<Response> => {
  const token = c.req.param("token") ?? "";
  const opened = await openAddress(c.env, "view", token, Date.now());
  const path = c.req.param("path") ?? "";
  const file = fileAt(c.env, opened, path === "" || path.endsWith("/") ? `${path}index.html` : path);
  if (file) return bytesAnswer(c, file, { ...HEADERS, "Content-Type": guessMediaType(file.name) });
  if (!fileAt(c.env, opened, `${path}/index.html`)) throw notFound();
  return c.body(null, 302, { ...HEADERS, Location: `${new URL(c.req.url).pathname}/` });
};

const ALONE =
  "This host serves only artifacts. If you expect the API here, set ARTIFACT_ORIGIN to another host than the API's.";

const refuse = (refusal: Refusal, c: HonoContext<AppEnv>): Response => {
  const answer = problemResponse(refusal, c.get("requestId"));
  for (const [name, value] of Object.entries(HEADERS)) answer.headers.set(name, value);
  return answer;
};

/** Creates the host at `ARTIFACT_ORIGIN`. It reads no cookies, and no token except the one in the path. */
export const createArtifactHost = (): Hono<AppEnv> => {
  const app = new Hono<AppEnv>();
  app.use(requestId, requestLog);
  app.get("/view/:token", (c) => c.redirect(`${new URL(c.req.url).pathname}/`));
  app.get("/view/:token/", showFile);
  app.get("/view/:token/:path{.+}", showFile);
  app.notFound((c) => refuse(new Refusal("not-found", ALONE), c));
  app.onError((error, c) => refuse(toRefusal(error), c));
  return app;
};

/** Reports whether the address is on the host of `ARTIFACT_ORIGIN`, even if other settings are wrong. */
export const isOnArtifactHost = ({ ARTIFACT_ORIGIN: origin }: Pick<Env, "ARTIFACT_ORIGIN">, { host }: URL): boolean =>
  !!origin && URL.parse(origin)?.host === host;
