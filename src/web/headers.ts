import type { Context } from "hono";

/** Parses the entity tags of If-Match or If-None-Match. A weak tag counts as its strong one (RFC 9110, 8.8.3). */
export const entityTags = (header: string | undefined): string[] | null =>
  header === undefined ? null : header.split(",").map((tag) => tag.trim().replace(/^W\//, ""));

/** Reports whether If-None-Match names this tag. If it does, the client already has the bytes (RFC 9110, 13.1.2). */
export const hasTag = (ifNoneMatch: string | undefined, tag: string): boolean =>
  entityTags(ifNoneMatch)?.some((one) => one === "*" || one === tag) ?? false;

/** A part of some bytes, as a header requests it. */
interface Range {
  start?: number;
  /** The end of the part, exclusive. */
  end?: number;
  suffix?: number;
}

/**
 * Parses the requested range. Returns null for several ranges or another unit, which RFC 9110 (14.2) lets a server
 * ignore. If-Range with anything except the strong `tag` of these bytes requests all bytes (13.1.5).
 */
export const parseRange = ({ req }: Context, tag: string | null): Range | null => {
  const ifRange = req.header("If-Range");
  if (ifRange !== undefined && ifRange !== tag) return null;
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(req.header("Range") ?? "") ?? [];
  if (first === "" && last === "") return null;
  if (first === "") return { suffix: Number(last) };
  return { start: Number(first), end: last === "" ? undefined : Number(last) + 1 };
};

/**
 * Returns the positions in so many bytes where the range begins and ends. The result is empty if the range contains
 * none of the bytes.
 */
export const rangeWithin = ({ start = 0, end, suffix }: Range, size: number): { start: number; end: number } => {
  if (suffix !== undefined) return { start: Math.max(0, size - suffix), end: size };
  return { start, end: Math.min(end ?? size, size) };
};

/** Returns the header `Link` to the page that begins after `cursor`. */
export const linkToNext = (url: string, cursor: string): string => {
  const next = new URL(url);
  next.searchParams.set("cursor", cursor);
  return `<${next.href}>; rel="next"`;
};
