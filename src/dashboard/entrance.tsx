import type { Hono } from "hono";
import { PROBLEMS } from "../protocol/problem.ts";
import { type Kit, openContext } from "../web/kit.ts";
import { refusalOf } from "../web/problems.ts";
import { SignInPage } from "./pages/sign-in.tsx";
import { type Call, readForm } from "./request.ts";
import { signIn, signOut } from "./session.ts";

/** A path of ours alone, so that signing in leads nobody elsewhere. */
const ownPath = (next: string | null | undefined): string =>
  next && /^\/app\/[\w/?=&.%:-]*$/.test(next) && !next.includes("..") ? next : "/app/builds";

const enter = async (c: Call): Promise<Response> => {
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
};

/** Where people come in and go out. */
export const mountEntrance = (app: Hono<Kit>): void => {
  app.get("/sign-in", (c) => c.html(<SignInPage next={ownPath(c.req.query("next"))} problem={null} />));
  app.post("/sign-in", enter);
  app.post("/sign-out", (c) => {
    signOut(c);
    return c.redirect("/app/sign-in", 303);
  });
};

/** To the entrance, and from there back to the page that was asked for. */
export const toEntrance = (c: Call): Response => {
  const { pathname, search } = new URL(c.req.url);
  if (c.req.method !== "GET") return c.redirect("/app/sign-in", 303);
  return c.redirect(`/app/sign-in?next=${encodeURIComponent(ownPath(pathname + search))}`, 303);
};
