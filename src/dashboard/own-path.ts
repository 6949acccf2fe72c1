const HOME = "/app";

/** `next` where it is a path below `/app` also as a browser resolves it (`%2e%2e`); else the first page. */
export const ownPath = (next: string | null | undefined): string => {
  if (!next || !/^\/app\/[\w/?=&.%:-]*$/.test(next)) return HOME;
  const { pathname, search } = new URL(next, "https://millrace.invalid");
  return next === pathname + search && pathname.startsWith("/app/") ? next : HOME;
};
