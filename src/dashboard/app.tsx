import { Hono } from "hono";
import { trimTrailingSlash } from "hono/trailing-slash";
import { PathId } from "../protocol/common.ts";
import { PROBLEMS } from "../protocol/problem.ts";
import type { Context } from "../services/core/context.ts";
import { Refusal } from "../services/core/refusal.ts";
import { checkPipeline } from "../services/pipeline-check.ts";
import type { AppEnv } from "../web/app-env.ts";
import { readLog } from "../web/log.ts";
import { describe, refusalOf } from "../web/problems.ts";
import { requestId } from "../web/request-id.ts";
import { requestLog } from "../web/request-log.ts";
import { checked, withBody } from "./ask.ts";
import { textIn } from "./entered.ts";
import { mountEntrance, toEntrance } from "./entrance.tsx";
import { Frame } from "./frame.tsx";
import type { Form, Page, View, Went } from "./page.ts";
import { ProblemPage } from "./pages/problem.tsx";
import { FORMS, PAGES } from "./pages.ts";
import { asked, type Call, open, readForm, SignedOut } from "./request.ts";
import { sameOrigin, securityHeaders } from "./security-headers.ts";
import { forget, rememberSeen } from "./session.ts";

const render = (c: Call, context: Context, view: View, done: string | null, status: 200 | 422 = 200) =>
  c.html(<Frame context={context} view={view} done={done} />, status);

const showPage = async (c: Call, page: Page): Promise<Response> => {
  const context = await open(c, { role: page.role }, false);
  const request = asked(c);
  return render(c, context, await page.show(context, request), request.query.get("done"));
};

const withNotice = ({ to, done }: Went): string => (done ? `${to}${to.includes("?") ? "&" : "?"}done=${done}` : to);

/** What a person can mend in the form itself; the rest gets a page of its own. */
const isMendable = ({ kind }: Refusal): boolean => [409, 412, 413, 422, 429].includes(PROBLEMS[kind][0]);

/** Obeys the form, or shows its page once more with what is wrong. */
const obey = async (c: Call, form: Form): Promise<Response> => {
  const context = await open(c, form.access, true);
  const request = { ...asked(c), entered: await readForm(c) };
  const version = request.entered.get("version");
  try {
    const went = await form.act(context.expectingVersion(version === null ? null : Number(version)), request);
    rememberSeen(c, context.db.bookmark);
    return "to" in went ? c.redirect(withNotice(went), 303) : render(c, context, went, null);
  } catch (error) {
    const problem = refusalOf(error);
    if (!isMendable(problem)) throw problem;
    return render(c, context, await form.page.show(context, { ...request, problem }), null, 422);
  }
};

const followed = async (c: Call): Promise<Response> => {
  const context = await open(c, readLog.access, false);
  const params = PathId.safeParse(c.req.param());
  const query = readLog.query?.safeParse(c.req.query());
  if (!params.success || !query?.success) throw new Refusal("not-found", "There is no such log here.");
  return readLog.stream(c, context, { params: params.data, query: query.data, body: undefined });
};

/** What the definition's field asks while a person types. */
const checkedDefinition = async (c: Call): Promise<Response> => {
  const context = await open(c, checkPipeline.access, false);
  const form = await readForm(c);
  const body = checked(checkPipeline.body, {
    ...{ definition: form.get("definition") ?? "", repoId: textIn(form, "repoId") },
    pipelineId: textIn(form, "pipelineId"),
  });
  return c.json(await checkPipeline.run(context, withBody(body)));
};

/** Whoever is signed in, as far as every page lets them in; null where that is nobody. */
const viewerOf = async (c: Call): Promise<Context | null> => {
  try {
    const context = await open(c, { role: "viewer" }, false);
    await context.admit();
    return context;
  } catch {
    return null;
  }
};

/** What went wrong, within the frame where somebody is signed in and it can be asked for. */
const problemPage = async (c: Call, problem: Refusal) => {
  const requestId = c.get("requestId");
  const [status] = PROBLEMS[problem.kind];
  if (status >= 500) console.error(JSON.stringify({ requestId, error: describe(problem) }));
  const context = status === 403 || status === 404 ? await viewerOf(c) : null;
  return c.html(<ProblemPage problem={problem} requestId={requestId} context={context} />, status);
};

/** The pages for people, below `/app`. */
export const createDashboard = (): Hono<AppEnv> => {
  const app = new Hono<AppEnv>().basePath("/app");
  app.use(requestId, requestLog, securityHeaders, sameOrigin, trimTrailingSlash());
  app.get("/", (c) => c.redirect("/app/builds"));
  mountEntrance(app);
  app.get("/builds/:id/log", followed);
  app.post("/pipelines/check", checkedDefinition);
  for (const page of PAGES) app.get(page.path, (c) => showPage(c, page));
  for (const form of FORMS) app.post(form.path, (c) => obey(c, form));
  app.notFound((c) => problemPage(c, new Refusal("not-found", "There is no such page.")));
  app.onError((error, c) => {
    const refusal = refusalOf(error);
    if (!(error instanceof SignedOut) && refusal.kind !== "unauthenticated") return problemPage(c, refusal);
    forget(c);
    return toEntrance(c, !(error instanceof SignedOut));
  });
  return app;
};
