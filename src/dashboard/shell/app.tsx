import { Hono } from "hono";
import { trimTrailingSlash } from "hono/trailing-slash";
import * as z from "zod/mini";
import { PathId } from "../../protocol/common.ts";
import type { PoolNow } from "../../protocol/metrics.ts";
import { PROBLEMS, type ProblemKind } from "../../protocol/problem.ts";
import { poolNow } from "../../services/agents/agents.ts";
import { changesAddress } from "../../services/builds/comparison.ts";
import { listLogTimes } from "../../services/builds/logs.ts";
import type { Context } from "../../services/core/context.ts";
import { Refusal } from "../../services/core/refusal.ts";
import { checkPipeline } from "../../services/repositories/pipeline-check.ts";
import type { AppEnv, StreamRoute } from "../../web/app-env.ts";
import { downloadFile, downloadZip } from "../../web/artifact-files.ts";
import { readLog } from "../../web/log.ts";
import { logFailure, toRefusal } from "../../web/problems.ts";
import { requestId, requestLog } from "../../web/request-log.ts";
import { mountPaletteRoute } from "../palette/find-rows.ts";
import { readText } from "../parts/fields.tsx";
import { clearCookies, readTheme, rememberBookmark, rememberTheme, type Theme } from "./cookies.ts";
import { Document } from "./document.tsx";
import { mountFollowedRoute } from "./followed-route.ts";
import { Layout } from "./layout.tsx";
import { type HonoCall, openRequest, readForm, SignedOut, toPageRequest } from "./open-request.ts";
import type { Form, Page, Redirect, View } from "./page-definition.ts";
import { FORMS, PAGES } from "./page-routes.ts";
import { mountReturnsFromHost } from "./returns-from-host.tsx";
import { pagePolicy, sameOrigin, securityHeaders } from "./security-headers.ts";
import { mountSignInRoutes, ownPath, redirectToSignIn } from "./sign-in-routes.tsx";
import { parseBody, withBody } from "./verb-input.ts";

const ADVICE: Partial<Record<ProblemKind, string>> = {
  forbidden: "Ask an admin of your organization for a token with a higher role.",
  "not-found": "It may have been removed, or it may belong to another organization.",
  internal: "Try again. If the problem persists, send the request ID below to the operator of this service.",
  unavailable: "Nothing was partly saved. Try again in a few seconds.",
  "keyring-unavailable": "The operator of this service must fix its keys.",
};

interface ProblemPageProps {
  problem: Refusal;
  requestId: string;
  /** The signed-in person's context; null without a session. */
  context: Context | null;
  theme: Theme;
}

const Problem = ({ problem, requestId }: Omit<ProblemPageProps, "context" | "theme">) => {
  const [status, title] = PROBLEMS[problem.kind];
  return (
    <>
      <p class="big">{status}</p>
      <h1>{title}</h1>
      <p>{problem.message}</p>
      {ADVICE[problem.kind] && <p>{ADVICE[problem.kind]}</p>}
      <p>
        <a href="/app/builds">Back to builds</a>
      </p>
      <p class="hint">
        Request ID <code>{requestId}</code>
      </p>
    </>
  );
};

/** Shows what failed and what to do next, with a link to continue. */
const ProblemPage = ({ context, theme, ...props }: ProblemPageProps) => {
  const [, title] = PROBLEMS[props.problem.kind];
  if (context) {
    const body = (
      <div class="column stopped">
        <Problem {...props} />
      </div>
    );
    return <Layout context={context} view={{ title, section: null, body }} theme={theme} now={null} noticeKey={null} />;
  }
  return (
    <Document title={title} theme={theme}>
      <main id="main" class="narrow">
        <Problem {...props} />
      </main>
    </Document>
  );
};

/** Returns the path of the form's page from the Referer header. */
const refererPath = (referer: string | undefined): string | null => {
  const url = URL.parse(referer ?? "");
  return url && url.pathname + url.search;
};

/** Adds the form that switches the theme. It works without a script. */
const mountThemeRoute = (app: Hono<AppEnv>): void => {
  app.post("/theme", async (c) => {
    rememberTheme(c, (await readForm(c)).get("theme"));
    return c.redirect(ownPath(refererPath(c.req.header("Referer"))), 303);
  });
};

/** Redirects to the git host's page for a build's commit. Computes the address only on request. */
const mountChangesRoute = (app: Hono<AppEnv>): void => {
  app.get("/builds/:id/changes", async (c) => {
    const context = await openRequest(c, { role: "viewer" }, false);
    return c.redirect(await changesAddress(context, c.req.param("id")), 302);
  });
};

const ANY_QUERY = z.unknown();

interface Answer {
  now: PoolNow | null;
  /** The key of the notice that the page shows. */
  notice?: string | null;
  status?: 200 | 422;
}

const answerView = (c: HonoCall, context: Context, view: View, { now, notice = null, status = 200 }: Answer) => {
  if (view.formTarget) c.header("Content-Security-Policy", pagePolicy(view.formTarget));
  const page = <Layout context={context} view={view} theme={readTheme(c)} now={now} noticeKey={notice} />;
  return c.html(page.html, status);
};

const showPage = async (c: HonoCall, page: Page): Promise<Response> => {
  const context = await openRequest(c, { role: page.role }, false);
  const request = toPageRequest(c);
  const [view, now] = await Promise.all([page.show(context, request), poolNow(context)]);
  return answerView(c, context, view, { now, notice: request.query.get("done") });
};

const redirectAddress = ({ to, notice }: Redirect): string =>
  notice ? `${to}${to.includes("?") ? "&" : "?"}done=${notice}` : to;

/** Reports whether a person can correct the problem in the form. Any other problem gets its own page. */
const isShownInForm = ({ kind }: Refusal): boolean => [409, 412, 413, 422, 429].includes(PROBLEMS[kind][0]);

/** Submits the form. If the service rejects the form, shows the form's page again with the problem. */
const submitForm = async (c: HonoCall, form: Form): Promise<Response> => {
  const context = await openRequest(c, form.access, true);
  const request = { ...toPageRequest(c), form: await readForm(c) };
  const version = request.form.get("version");
  try {
    const result = await form.submit(context.expectingVersion(version === null ? null : Number(version)), request);
    rememberBookmark(c, context.db.bookmark);
    return "to" in result
      ? c.redirect(redirectAddress(result), 303)
      : answerView(c, context, result, { now: await poolNow(context) });
  } catch (error) {
    const problem = toRefusal(error);
    if (!isShownInForm(problem)) throw problem;
    const view = await form.page.show(context, { ...request, problem });
    return answerView(c, context, view, { now: await poolNow(context), status: 422 });
  }
};

/** Streams a log for its page's script and for the link to the raw text, or streams an artifact's file. */
const stream =
  (route: StreamRoute) =>
  async (c: HonoCall): Promise<Response> => {
    const context = await openRequest(c, route.access, false);
    const params = (route.params ?? PathId).safeParse(c.req.param());
    const query = (route.query ?? ANY_QUERY).safeParse(c.req.query());
    if (!params.success || !query.success) throw new Refusal("not-found", "There is no such log or file.");
    return route.stream(c, context, { params: params.data, query: query.data, body: undefined });
  };

/** Returns the times when the service stored the log's parts, for the page's script. */
const answerTimes = async (c: HonoCall): Promise<Response> => {
  const context = await openRequest(c, listLogTimes.access, false);
  const params = PathId.safeParse(c.req.param());
  if (!params.success) throw new Refusal("not-found", "There is no such log.");
  return c.json(await listLogTimes.run(context, { params: params.data, query: {}, body: undefined }));
};

/** Checks a pipeline's definition while a person types it. */
const checkDefinition = async (c: HonoCall): Promise<Response> => {
  const context = await openRequest(c, checkPipeline.access, false);
  const form = await readForm(c);
  const body = parseBody(checkPipeline.body, {
    definition: form.get("definition") ?? "",
    repoId: readText(form, "repoId"),
    pipelineId: readText(form, "pipelineId"),
  });
  return c.json(await checkPipeline.run(context, withBody(body)));
};

/** Returns the signed-in person's context for a page that every role may open; null without a session. */
const viewerContext = async (c: HonoCall): Promise<Context | null> => {
  try {
    const context = await openRequest(c, { role: "viewer" }, false);
    await context.admit();
    return context;
  } catch {
    return null;
  }
};

/** Shows a problem. If a person is signed in, shows it within the layout of the other pages. */
const problemPage = async (c: HonoCall, problem: Refusal) => {
  const requestId = c.get("requestId");
  const [status] = PROBLEMS[problem.kind];
  logFailure(c, problem);
  const context = status === 403 || status === 404 ? await viewerContext(c) : null;
  const page = <ProblemPage problem={problem} requestId={requestId} context={context} theme={readTheme(c)} />;
  return c.html(page.html, status);
};

/** Creates the pages for people, below `/app`. */
export const createDashboard = (): Hono<AppEnv> => {
  const app = new Hono<AppEnv>().basePath("/app");
  app.use(requestId, requestLog, securityHeaders, sameOrigin, trimTrailingSlash());
  mountSignInRoutes(app);
  mountReturnsFromHost(app);
  mountThemeRoute(app);
  mountPaletteRoute(app);
  mountChangesRoute(app);
  mountFollowedRoute(app);
  for (const noun of ["builds", "jobs"]) {
    app.get(`/${noun}/:id/log`, stream(readLog));
    app.get(`/${noun}/:id/log/times`, answerTimes);
  }
  app.get("/artifacts/:id/:name/zip", stream(downloadZip));
  app.get("/artifacts/:id/:name/content/:path{.+}", stream(downloadFile));
  app.post("/pipelines/check", checkDefinition);
  for (const page of PAGES) app.get(page.path, (c) => showPage(c, page));
  for (const form of FORMS) app.post(form.path, (c) => submitForm(c, form));
  app.notFound((c) => problemPage(c, new Refusal("not-found", "There is no such page.")));
  app.onError((error, c) => {
    const refusal = toRefusal(error);
    if (!(error instanceof SignedOut) && refusal.kind !== "unauthenticated") return problemPage(c, refusal);
    clearCookies(c);
    return redirectToSignIn(c, !(error instanceof SignedOut));
  });
  return app;
};
