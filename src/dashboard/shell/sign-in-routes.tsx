import type { Hono } from "hono";
import { PROBLEMS } from "../../protocol/problem.ts";
import { checkAddressRate, checkRate } from "../../services/core/rate-limit.ts";
import type { Refusal } from "../../services/core/refusal.ts";
import type { AppEnv } from "../../web/app-env.ts";
import { openContext } from "../../web/open-context.ts";
import { toRefusal } from "../../web/problems.ts";
import { ProblemNotice } from "../parts/form-page.tsx";
import { readTheme, signIn, signOut, type Theme } from "./cookies.ts";
import { assetUrl, Document } from "./document.tsx";
import { type HonoCall, readForm } from "./open-request.ts";

const HOME = "/app";

/**
 * Returns `next` if it is a path below `/app`, even after a browser resolves it (`%2e%2e`). Otherwise returns the first
 * page.
 */
export const ownPath = (next: string | null | undefined): string => {
  if (!next || !/^\/app\/[\w/?=&.%:-]*$/.test(next)) return HOME;
  const { pathname, search } = new URL(next, "https://millrace.invalid");
  return next === pathname + search && pathname.startsWith("/app/") ? next : HOME;
};

interface SignInProps {
  theme: Theme;
  /** The path that opens after the sign-in. */
  next: string;
  problem: Refusal | null;
  /** Whether the person was signed in until the session or its token ended. */
  isOver?: boolean;
}

const SignInPage = ({ theme, next, problem, isOver = false }: SignInProps) => (
  <Document title="Sign in" theme={theme}>
    <main id="main" class="narrow">
      <h1>
        <img src={assetUrl("mark.svg")} alt="" width="28" height="28" /> Millrace
      </h1>
      <p>Sign in to your organization's builds, agents and secrets.</p>
      {isOver && (
        <p class="notice" role="status">
          You were signed out. Your session ended, or its token expired or was revoked.
        </p>
      )}
      <ProblemNotice request={{ problem, form: null }} />
      <form method="post" action="/app/sign-in" class="stack">
        <input type="hidden" name="next" value={next} />
        <input type="text" autocomplete="username" value="Millrace" readonly hidden />
        <label for="token">API token</label>
        <input id="token" name="token" type="password" autocomplete="current-password" required autofocus />
        <p class="hint">
          Starts with <code>mrt_</code>. An admin of your organization creates one under Tokens.
        </p>
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
      <p class="hint">
        Programs use <a href="/docs">the API</a>.
      </p>
    </main>
  </Document>
);

const submitSignIn = async (c: HonoCall): Promise<Response> => {
  const form = await readForm(c);
  const next = ownPath(form.get("next"));
  try {
    await signIn(c, form.get("token")?.trim() ?? "", async (caller) => {
      const context = openContext(c, { caller, access: { role: "viewer" }, writes: true, bookmark: null });
      // Count by the token, because later requests of the session have their own count.
      await checkRate(c.env, context.config, caller);
      await context.admit();
    });
  } catch (error) {
    const problem = toRefusal(error);
    const page = <SignInPage theme={readTheme(c)} next={next} problem={problem} />;
    return c.html(page.html, PROBLEMS[problem.kind][0]);
  }
  return c.redirect(next, 303);
};

export const mountSignInRoutes = (app: Hono<AppEnv>): void => {
  app.get("/sign-in", (c) => {
    const isOver = c.req.query("why") === "over";
    const next = ownPath(c.req.query("next"));
    const page = <SignInPage theme={readTheme(c)} next={next} isOver={isOver} problem={null} />;
    return c.html(page.html);
  });
  app.post("/sign-in", submitSignIn);
  app.post("/sign-out", async (c) => {
    await checkAddressRate(c.env, c.req.header("CF-Connecting-IP") ?? "");
    await signOut(c);
    return c.redirect("/app/sign-in", 303);
  });
};

/** Redirects to the sign-in page, which leads back afterwards. `isOver` means that the session was valid before. */
export const redirectToSignIn = (c: HonoCall, isOver: boolean): Response => {
  const { pathname, search } = new URL(c.req.url);
  const query = new URLSearchParams(isOver ? { why: "over" } : {});
  if (c.req.method === "GET") query.set("next", ownPath(pathname + search));
  return c.redirect(query.size > 0 ? `/app/sign-in?${query}` : "/app/sign-in", 303);
};
