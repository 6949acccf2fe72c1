import type { Context } from "hono";

export const isSecure = (c: Context): boolean => new URL(c.req.url).protocol === "https:";

/** `__Host-` binds a cookie to this origin, but needs https, which a service on loopback does not have. */
export const cookieName = (c: Context, name: string): string => (isSecure(c) ? `__Host-${name}` : name);

/** The attributes of a cookie that lasts this many seconds, and that no script can read. */
export const cookieAttributes = (c: Context, maxAge: number) => ({
  path: "/",
  httpOnly: true,
  sameSite: "Strict" as const,
  secure: isSecure(c),
  maxAge,
});
