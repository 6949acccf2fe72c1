import * as z from "zod/mini";

/** The versions of Xcode on an agent's machine, separated by commas. Only the agent itself writes them. */
export const XCODES_HEADER = "X-Agent-Xcodes";

const VERSION = /^\d{1,3}(?:\.\d{1,3}){0,2}$/;
const MOST_XCODES = 20;

/** A version of Xcode, or its beginning: 26 matches any 26.x. */
export const XcodeVersion = z.string().check(z.regex(VERSION, "must be a version of Xcode, for example 26.1"));

/** Reads the versions in the header's value, and ignores the rest of the value. */
export const xcodesIn = (header: string | null): string[] =>
  (header ?? "")
    .split(",", MOST_XCODES)
    .map((word) => word.trim())
    .filter((word) => VERSION.test(word));

/** Reports whether `version` is the required version, or begins with it. */
export const isXcode = (required: string, version: string): boolean =>
  version === required || version.startsWith(`${required}.`);
