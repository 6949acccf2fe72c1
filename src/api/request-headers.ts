import type { HonoRequest } from "hono";
import { GRANT_HEADER } from "../protocol/artifact.ts";
import { BOOKMARK, BOOKMARK_HEADER } from "../protocol/headers.ts";
import { BOOT_HEADER, FEATURES_HEADER, featuresIn, LEASE_HEADER } from "../protocol/jobs.ts";
import { XCODES_HEADER, xcodesIn } from "../protocol/xcodes.ts";
import type { RequestHeaders } from "../services/core/context.ts";
import { invalid } from "../services/core/refusal.ts";
import { entityTags } from "../web/entity-tags.ts";

interface HeaderForm {
  name: string;
  pattern: RegExp;
  problem: string;
}

const IDEMPOTENCY_KEY: HeaderForm = {
  name: "Idempotency-Key",
  pattern: /^[\x21-\x7e]{1,200}$/,
  problem: "must be 1 to 200 visible characters",
};
const LEASE: HeaderForm = { name: LEASE_HEADER, pattern: /^\d{1,16}$/, problem: "must be the number of a lease" };
const BOOKMARK_FORM: HeaderForm = {
  name: BOOKMARK_HEADER,
  pattern: BOOKMARK,
  problem: "must be one that an earlier answer gave",
};
const BOOT_ID_LIMIT = 100;

const isMalformed = (request: HonoRequest, { name, pattern }: HeaderForm): boolean => {
  const text = request.header(name);
  return text !== undefined && !pattern.test(text);
};

const wellFormed = (request: HonoRequest, form: HeaderForm): string | null =>
  isMalformed(request, form) ? null : (request.header(form.name) ?? null);

/** What the request's headers ask for. `checkHeaders` refuses a malformed one, which counts as absent here. */
export const requestHeaders = (request: HonoRequest): RequestHeaders => {
  const lease = wellFormed(request, LEASE);
  return {
    ifMatch: entityTags(request.header("If-Match")),
    idempotencyKey: wellFormed(request, IDEMPOTENCY_KEY),
    lease: lease === null ? null : Number(lease),
    bootId: request.header(BOOT_HEADER)?.slice(0, BOOT_ID_LIMIT) ?? null,
    features: featuresIn(request.header(FEATURES_HEADER) ?? null),
    xcodes: xcodesIn(request.header(XCODES_HEADER) ?? null),
    grant: request.header(GRANT_HEADER) ?? null,
  };
};

/** The bookmark from which the request reads, or null. */
export const bookmarkOf = (request: HonoRequest): string | null => wellFormed(request, BOOKMARK_FORM);

/** @throws Refusal invalid, naming the malformed header */
export const checkHeaders = (request: HonoRequest): void => {
  for (const form of [IDEMPOTENCY_KEY, LEASE, BOOKMARK_FORM]) {
    if (isMalformed(request, form)) throw invalid(form.name, form.problem);
  }
};
