import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { cookieAttributes, cookieName } from "./cookies.ts";

/** `system` is what the device prefers. */
export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const COOKIE = "millrace-theme";
const YEAR_SECONDS = 365 * 24 * 60 * 60;

const toTheme = (word: string | null | undefined): Theme => THEMES.find((theme) => theme === word) ?? "system";

/** The theme that this browser chose, known before the first paint. */
export const themeOf = (c: Context): Theme => toTheme(getCookie(c, cookieName(c, COOKIE)));

export const rememberTheme = (c: Context, word: string | null): void =>
  setCookie(c, cookieName(c, COOKIE), toTheme(word), cookieAttributes(c, YEAR_SECONDS));
