/** The entity tags of If-Match or If-None-Match. A weak tag counts as its strong one (RFC 9110, 8.8.3). */
export const entityTags = (header: string | undefined): string[] | null =>
  header === undefined ? null : header.split(",").map((tag) => tag.trim().replace(/^W\//, ""));

/** Whether If-None-Match names this tag: the client has what would be sent (RFC 9110, 13.1.2). */
export const hasTag = (ifNoneMatch: string | undefined, tag: string): boolean =>
  entityTags(ifNoneMatch)?.some((one) => one === "*" || one === tag) ?? false;
