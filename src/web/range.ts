import type { Context } from "hono";

/** A part of some bytes, as a header asks for it. */
interface Range {
  start?: number;
  /** Exclusive. */
  end?: number;
  suffix?: number;
}

/**
 * The range that a request asks for; null for several ranges or another unit, which RFC 9110 (14.2) lets a server
 * ignore. If-Range with anything but the strong `tag` of these bytes asks for all of them (13.1.5).
 */
export const rangeOf = ({ req }: Context, tag: string | null): Range | null => {
  const ifRange = req.header("If-Range");
  if (ifRange !== undefined && ifRange !== tag) return null;
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(req.header("Range") ?? "") ?? [];
  if (first === "" && last === "") return null;
  if (first === "") return { suffix: Number(last) };
  return { start: Number(first), end: last === "" ? undefined : Number(last) + 1 };
};

/** Where the range begins and ends in so many bytes. It is empty where they have none of it. */
export const rangeWithin = ({ start = 0, end, suffix }: Range, size: number): { start: number; end: number } => {
  if (suffix !== undefined) return { start: Math.max(0, size - suffix), end: size };
  return { start, end: Math.min(end ?? size, size) };
};
