import { Hono, type Context as HonoContext } from "hono";
import { PathId } from "../protocol/common.ts";
import { PROBLEMS } from "../protocol/problem.ts";
import type { Access } from "../services/access.ts";
import { checkPipeline } from "../services/checks.ts";
import { type Context, entityTag } from "../services/context.ts";
import { Refusal } from "../services/refusal.ts";
import { readBytes } from "../web/body.ts";
import { type Kit, numbered, openContext } from "../web/kit.ts";
import { showLog } from "../web/log.ts";
import { describe, refusalOf } from "../web/problems.ts";
import { checked, withBody } from "./ask.ts";
import { textIn } from "./entered.ts";
import { Frame } from "./frame.tsx";
import { guarded, sameOrigin } from "./guard.ts";
import type { Asked, Form, Page, View, Went } from "./page.ts";
import { ProblemPage } from "./pages/problem.tsx";
import { SignInPage } from "./pages/sign-in.tsx";
import { FORMS, PAGES } from "./pages.ts";
import { lastSeen, rememberSeen, sessionCaller, signIn, signOut } from "./session.ts";

type C = HonoContext<Kit>;
const FORM_LIMIT = 1024 * 1024;

/** Thrown where nobody is signed in. */
class SignedOut extends Error {}

const open = async (c: C, access: Access, writes: boolean): Promise<Context> => {
  const caller = await sessionCaller(c);
  if (!caller) throw new SignedOut();
  return openContext(c, { caller, access, writes, bookmark: lastSeen(c) });
};

const asked = (c: C): Asked => {
  const { searchParams: query, origin } = new URL(c.req.url);
  return { params: c.req.param(), query, origin, entered: null, problem: null };
};

/** A form's fields, with the line ends of this world. */
const readForm = async (c: C): Promise<URLSearchParams> => {
  const text = new TextDecoder().decode(await readBytes(c.req.raw, FORM_LIMIT));
  const fields = [...new URLSearchParams(text)].map(([name, value]) => [name, value.replaceAll("\r\n", "\n")]);
  return new URLSearchParams(fields as [string, string][]);
};

const render = (c: C, context: Context, view: View, done: string | null, status: 200 | 403 | 404 | 422 = 200) =>
  c.html(<Frame context={context} view={view} done={done} />, status);

const showPage = async (c: C, page: Page): Promise<Response> => {
  const context = await open(c, { role: page.role }, false);
  const request = asked(c);
  const view = await page.show(context, request);
  return render(c, context, view, request.query.get("done"));
};

/** Obeys the form, or shows its page once more with what is wrong. */
const obey = async (c: C, form: Form): Promise<Response> => {
  const context = await open(c, form.access, true);
  const request = { ...asked(c), entered: await readForm(c) };
  const version = request.entered.get("version");
  if (version !== null) context.ifMatch = [entityTag(Number(version))];
  try {
    const went = await form.act(context, request);
    rememberSeen(c, context.db.bookmark);
    return "to" in went ? c.redirect(withNotice(went), 303) : render(c, context, went, null);
  } catch (error) {
    const problem = refusalOf(error);
    const [status] = PROBLEMS[problem.kind];
    if (status >= 500 || status === 401 || status === 403 || status === 404) throw problem;
    context.ifMatch = null;
    return render(c, context, await form.page.show(context, { ...request, problem }), null, 422);
  }
};

const withNotice = ({ to, done }: Went): string => (done ? `${to}${to.includes("?") ? "&" : "?"}done=${done}` : to);

const followed = async (c: C): Promise<Response> => {
  const context = await open(c, showLog.access, false);
  const { success } = PathId.safeParse(c.req.param());
  if (!success) throw new Refusal("not-found", "There is no such build here.");
  const query = showLog.query?.safeParse(c.req.query());
  return showLog.stream(c, context, { params: c.req.param(), query: query?.data ?? {}, body: undefined });
};

/** What the definition's field asks while a person types. */
const checkedDefinition = async (c: C): Promise<Response> => {
  const context = await open(c, checkPipeline.access, false);
  const form = await readForm(c);
  const body = checked(checkPipeline.body, {
    ...{ definition: form.get("definition") ?? "", repoId: textIn(form, "repoId") },
    pipelineId: textIn(form, "pipelineId"),
  });
  return c.json(await checkPipeline.run(context, withBody(body)));
};

/** A path of ours alone, so that no link leads a person who signs in elsewhere. */
const ownPath = (next: string | null): string =>
  /^\/app\/[\w/?=&.%-]*$/.test(next ?? "") ? (next as string) : "/app/builds";

/** The pages for people, below `/app`. */
export const createDashboard = (): Hono<Kit> => {
  const app = new Hono<Kit>().basePath("/app");
  app.use(numbered, guarded, sameOrigin);
  app.get("/", (c) => c.redirect("/app/builds"));
  app.get("/sign-in", (c) => c.html(<SignInPage next={ownPath(c.req.query("next") ?? null)} problem={null} />));
  app.post("/sign-in", async (c) => {
    const form = await readForm(c);
    const next = ownPath(form.get("next"));
    try {
      await signIn(c, form.get("token")?.trim() ?? "", (caller) =>
        openContext(c, { caller, access: { role: "viewer" }, writes: true, bookmark: null }).admit(),
      );
    } catch (error) {
      const problem = refusalOf(error);
      return c.html(<SignInPage next={next} problem={problem} />, PROBLEMS[problem.kind][0]);
    }
    return c.redirect(next, 303);
  });
  app.post("/sign-out", (c) => {
    signOut(c);
    return c.redirect("/app/sign-in", 303);
  });
  app.get("/builds/:id/log", followed);
  app.post("/pipelines/check", checkedDefinition);
  for (const page of PAGES) app.get(page.path, (c) => showPage(c, page));
  for (const form of FORMS) app.post(form.path, (c) => obey(c, form));
  app.notFound((c) => problemPage(c, new Refusal("not-found", "There is no such page.")));
  app.onError((error, c) => {
    if (error instanceof SignedOut) return signedOut(c);
    const refusal = refusalOf(error);
    if (refusal.kind === "unauthenticated") {
      signOut(c);
      return signedOut(c);
    }
    return problemPage(c, refusal);
  });
  return app;
};

const signedOut = (c: C): Response => {
  const { pathname, search } = new URL(c.req.url);
  if (c.req.method !== "GET") return c.redirect("/app/sign-in", 303);
  return c.redirect(`/app/sign-in?next=${encodeURIComponent(ownPath(pathname + search))}`, 303);
};

const problemPage = (c: C, problem: Refusal) => {
  const [status] = PROBLEMS[problem.kind];
  const requestId = c.get("requestId");
  if (status >= 500) console.error(JSON.stringify({ requestId, error: describe(problem) }));
  return c.html(<ProblemPage problem={problem} requestId={requestId} />, status);
};
