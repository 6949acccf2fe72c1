import type { BuildOrigin, HostTarget } from "../../src/githosts/core/build-origin.ts";
import type { DeliveryRequest, NewBuild, RequestedBuild } from "../../src/queue/commands/commands.ts";

export const CONNECTION = { actor: "connection:c1", requestId: "r" };

export const HOST: HostTarget = {
  connectionId: "c1",
  repoId: 7,
  fullName: "acme/app",
  context: "millrace/test",
  origin: null,
};

export const ORIGIN: BuildOrigin = {
  event: "push",
  before: null,
  pull: null,
  commit: { subject: "Fix it", author: "mona" },
  schedule: null,
  paths: null,
  purpose: "build",
};

/** Returns a commit's hash that begins with this name. */
export const namedSha = (name: string): string => name.padEnd(40, "0");

/** Returns a build that a push requests. `before` is the previous head. */
export const newRequestedBuild = (
  build: NewBuild,
  { head, before = null, ...over }: { head: string; before?: string | null } & Partial<RequestedBuild>,
): RequestedBuild => ({
  ...build,
  pipelineId: build.pipelineId ?? "pipeline",
  commitSha: namedSha(head),
  host: HOST,
  origin: { ...ORIGIN, before: before === null ? null : namedSha(before) },
  supersedes: true,
  actor: CONNECTION,
  ...over,
});

export const newDelivery = (
  orgId: string,
  deliveryId: string,
  over: Partial<DeliveryRequest> = {},
): DeliveryRequest => ({
  orgId,
  connectionId: "c1",
  deliveryId,
  hook: null,
  builds: [],
  ended: [],
  actor: CONNECTION,
  ...over,
});
