import { findCache } from "../../services/cache-finds.ts";
import { finishCache, openCache } from "../../services/cache-saves.ts";
import { emptyCache, listCache } from "../../services/caches.ts";
import { downloadCache, sendCachePart } from "../byte-streams.ts";
import { act, describing, get, post, put, type Route, remove, report } from "./route.ts";

/** What builds find again. */
export const CACHE_ROUTES: Route[] = [
  act(
    "/job/:id/cache/find",
    { findCache },
    describing && {
      tag: "Agent protocol",
      summary: "Find entries of the cache",
      description:
        "The entries of the build's own branch, of the base of its pull request and of the default branch, of the same pipeline. The service knows these from the build.",
      headers: ["Lease"],
      problems: ["lease-lost", "conflict"],
    },
  ),
  post(
    "/job/:id/cache",
    { openCache },
    describing && {
      tag: "Agent protocol",
      summary: "Begin to save an entry of the cache",
      description:
        "For the build's own branch. An entry never changes: a key that is taken, or that another job is saving, is refused. With the grant of an earlier answer, also one that has expired, the same body continues that save.",
      headers: ["Lease", "EarlierGrant"],
      problems: ["lease-lost", "conflict", "limit-reached"],
    },
  ),
  put(
    "/job/:id/cache/:cacheId/part/:part",
    { sendCachePart },
    describing && {
      tag: "Agent protocol",
      summary: "Send a part of an entry of the cache",
      description: "Parts are numbered from 1. All but the last have `partBytes` bytes. A part may be sent again.",
      headers: ["Grant", "ContentSha256"],
      problems: ["malformed-body", "conflict"],
      bytes: true,
    },
  ),
  report(
    "/job/:id/cache/:cacheId/done",
    { finishCache },
    describing && {
      tag: "Agent protocol",
      summary: "Finish an entry of the cache",
      description:
        "From now on builds find it. Entries of the same branch that were not used for long give way to it. It may be repeated.",
      headers: ["Lease", "Grant"],
      problems: ["lease-lost", "conflict", "limit-reached"],
    },
  ),
  get(
    "/cache/:grant/content",
    { downloadCache },
    describing && {
      tag: "Agent protocol",
      summary: "Download a granted entry of the cache",
      description: "The compressed tar, or a `Range` of it.",
      headers: ["Range"],
      problems: ["gone"],
      also: { 206: "The bytes of the `Range`", 416: "There are not these bytes" },
      text: { types: ["application/octet-stream"], alone: true },
    },
  ),
  get(
    "/repository/:id/cache",
    { listCache },
    describing && {
      tag: "Repositories",
      summary: "List the cache of a repository",
      description: "All entries, the newest first.",
    },
  ),
  remove(
    "/repository/:id/cache",
    { emptyCache },
    describing && {
      tag: "Repositories",
      summary: "Empty the cache of a repository",
      description: "No build finds an earlier entry any more, and none of the copies that agents keep.",
    },
  ),
];
