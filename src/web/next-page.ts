/** The header `Link` to the page that begins after `cursor`. */
export const linkToNext = (url: string, cursor: string): string => {
  const next = new URL(url);
  next.searchParams.set("cursor", cursor);
  return `<${next.href}>; rel="next"`;
};
