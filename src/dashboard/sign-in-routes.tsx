import type { Hono } from "hono";
import { PROBLEMS } from "../protocol/problem.ts";
import { checkAddressRate, checkRate } from "../services/core/rate-limit.ts";
import type { AppEnv } from "../web/app-env.ts";
import { openContext } from "../web/open-context.ts";
import { refusalOf } from "../web/problems.ts";
import { type HonoCall, readForm } from "./open-request.ts";
import { ownPath } from "./own-path.ts";
import { SignInPage } from "./pages/sign-in.tsx";
import { signIn, signOut } from "./session.ts";
import { themeOf } from "./theme.ts";

const submitSignIn = async (c: HonoCall): Promise<Response> => {
  const form = await readForm(c);
  const next = ownPath(form.get("next"));
  try {
    await signIn(c, form.get("token")?.trim() ?? "", async (caller) => {
      const context = openContext(c, { caller, access: { role: "viewer" }, writes: true, bookmark: null });
      // By its token: what a session asks later is counted by itself.
      await checkRate(c.env, context.config, caller);
      await context.admit();
    });
  } catch (error) {
    const problem = refusalOf(error);
    return c.html(<SignInPage theme={themeOf(c)} next={next} problem={problem} />, PROBLEMS[problem.kind][0]);
  }
  return c.redirect(next, 303);
};

export const mountSignInRoutes = (app: Hono<AppEnv>): void => {
  app.get("/sign-in", (c) => {
    const isOver = c.req.query("why") === "over";
    return c.html(<SignInPage theme={themeOf(c)} next={ownPath(c.req.query("next"))} isOver={isOver} problem={null} />);
  });
  app.post("/sign-in", submitSignIn);
  app.post("/sign-out", async (c) => {
    await checkAddressRate(c.env, c.req.header("CF-Connecting-IP") ?? "");
    await signOut(c);
    return c.redirect("/app/sign-in", 303);
  });
};

/** Redirects to the sign-in page, and from there back. `isOver`: the session was valid before. */
export const redirectToSignIn = (c: HonoCall, isOver: boolean): Response => {
  const { pathname, search } = new URL(c.req.url);
  const query = new URLSearchParams(isOver ? { why: "over" } : {});
  if (c.req.method === "GET") query.set("next", ownPath(pathname + search));
  return c.redirect(query.size > 0 ? `/app/sign-in?${query}` : "/app/sign-in", 303);
};
