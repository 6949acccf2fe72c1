import type { Context, Context as HonoContext } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { BOOKMARK } from "../../protocol/headers.ts";
import type { Caller } from "../../services/core/access.ts";
import { identify } from "../../services/core/admission.ts";
import { Refusal } from "../../services/core/refusal.ts";
import {
  endSession,
  freshSession,
  openSession,
  SESSION_MS,
  type Session,
  sealSession,
} from "../../services/tokens/sessions.ts";
import type { AppEnv } from "../../web/app-env.ts";

const isSecure = (c: Context): boolean => new URL(c.req.url).protocol === "https:";

/**
 * Returns the cookie's name. The prefix `__Host-` binds the cookie to this origin, but requires https, which a loopback
 * address does not have.
 */
const cookieName = (c: Context, name: string): string => (isSecure(c) ? `__Host-${name}` : name);

/** Returns the attributes of a cookie that lasts this many seconds and that no script can read. */
const cookieAttributes = (c: Context, maxAge: number) => ({
  path: "/",
  httpOnly: true,
  sameSite: "Strict" as const,
  secure: isSecure(c),
  maxAge,
});

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;
const BOOKMARK_SECONDS = 60;

const sessionCookie = (c: HonoContext) => cookieName(c, "millrace");
const bookmarkCookie = (c: HonoContext) => cookieName(c, "millrace-seen");

/**
 * Rejects a connection without encryption.
 * @throws Refusal when the connection would carry the cookie unencrypted
 */
const checkConnection = (c: HonoContext): void => {
  if (isSecure(c) || LOOPBACK.test(new URL(c.req.url).hostname)) return;
  throw new Refusal("forbidden", "Sign-in requires HTTPS, except on localhost.");
};

const storeSession = async (c: HonoContext<AppEnv>, session: Session): Promise<void> => {
  const seconds = Math.ceil((session.expiresAt - Date.now()) / 1000);
  setCookie(c, sessionCookie(c), await sealSession(c.env, session), cookieAttributes(c, seconds));
};

/**
 * Returns an API token's caller.
 * @throws Refusal when the token is invalid or of another kind
 */
const identifyCaller = async (c: HonoContext<AppEnv>, token: string): Promise<Caller> => {
  const caller = await identify(c.env, `Bearer ${token}`).catch((error) => {
    throw error instanceof Refusal && error.kind === "unauthenticated"
      ? new Refusal("unauthenticated", "The token is invalid or has expired.")
      : error;
  });
  if (caller.kind === "api") return caller;
  throw new Refusal("forbidden", "This is not an API token. Sign in with a token that starts with mrt_.");
};

/** Starts a session if `check` accepts the token. */
export const signIn = async (c: HonoContext<AppEnv>, token: string, check: (caller: Caller) => Promise<unknown>) => {
  checkConnection(c);
  await check(await identifyCaller(c, token));
  await storeSession(c, freshSession(token, new Date()));
};

export const clearCookies = (c: HonoContext): void => {
  for (const name of [sessionCookie(c), bookmarkCookie(c)]) deleteCookie(c, name, cookieAttributes(c, 0));
};

const readSession = async (c: HonoContext<AppEnv>): Promise<Session | null> => {
  const sealed = getCookie(c, sessionCookie(c));
  return sealed === undefined ? null : openSession(c.env, sealed, new Date());
};

/** Ends the session. The service then also rejects copies of its cookie. */
export const signOut = async (c: HonoContext<AppEnv>): Promise<void> => {
  const session = await readSession(c);
  if (session) await endSession(c.env, session);
  clearCookies(c);
};

/** Returns the session's caller, or null. Extends a session that is past half of its time. */
export const sessionCaller = async (c: HonoContext<AppEnv>): Promise<Caller | null> => {
  const session = await readSession(c);
  if (!session) return null;
  const now = new Date();
  const next = freshSession(session.token, now, session);
  const isLate = session.expiresAt - now.getTime() < SESSION_MS / 2;
  if (isLate && next.expiresAt > session.expiresAt) await storeSession(c, next);
  return { ...(await identifyCaller(c, session.token)), sessionId: session.id };
};

/** Stores D1's bookmark in a cookie, so that pages after a change read a replica that contains the change. */
export const rememberBookmark = (c: HonoContext, bookmark: string | null): void => {
  if (bookmark) setCookie(c, bookmarkCookie(c), bookmark, cookieAttributes(c, BOOKMARK_SECONDS));
};

export const lastBookmark = (c: HonoContext): string | null => {
  const bookmark = getCookie(c, bookmarkCookie(c));
  return bookmark && BOOKMARK.test(bookmark) ? bookmark : null;
};

/** The themes. `system` follows the device's preference. */
export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const COOKIE = "millrace-theme";
const YEAR_SECONDS = 365 * 24 * 60 * 60;

const toTheme = (word: string | null | undefined): Theme => THEMES.find((theme) => theme === word) ?? "system";

/** Returns the theme that the browser's person chose. The service knows it before the first paint. */
export const readTheme = (c: Context): Theme => toTheme(getCookie(c, cookieName(c, COOKIE)));

export const rememberTheme = (c: Context, word: string | null): void =>
  setCookie(c, cookieName(c, COOKIE), toTheme(word), cookieAttributes(c, YEAR_SECONDS));
