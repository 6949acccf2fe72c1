import type { Arrival } from "../../../src/domain/githost/arrival.ts";
import type { Fields } from "../../../src/domain/githost/body.ts";
import { giteaArrival } from "../../../src/domain/githost/gitea.ts";
import { githubArrival } from "../../../src/domain/githost/github.ts";
import { gitlabArrival } from "../../../src/domain/githost/gitlab.ts";
import { bodyWith, type Changeable } from "../../support/deliveries/bodies.ts";

/** Reads a body of an event. */
export type Reader = (body: Fields) => Arrival;

/** A push and a pull request of each host, with what reads them. */
export const PUSHES: [host: string, body: (change?: (body: Changeable) => void) => Fields, read: Reader][] = [
  ["GitHub", (change) => bodyWith("githubPush", change), (body) => githubArrival("push", body)],
  ["GitLab", (change) => bodyWith("gitlabPush", change), (body) => gitlabArrival("Push Hook", body)],
  ["Gitea", (change) => bodyWith("giteaPush", change), (body) => giteaArrival("push", body)],
];
export const PULLS: typeof PUSHES = [
  ["GitHub", (change) => bodyWith("githubPull", change), (body) => githubArrival("pull_request", body)],
  ["GitLab", (change) => bodyWith("gitlabMergeRequest", change), (body) => gitlabArrival("Merge Request Hook", body)],
  ["Gitea", (change) => bodyWith("giteaPull", change), (body) => giteaArrival("pull_request", body)],
];
