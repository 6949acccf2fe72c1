import type { Arrival } from "../../src/githosts/core/arrival.ts";
import type { Fields } from "../../src/githosts/core/body.ts";
import { giteaArrival } from "../../src/githosts/gitea/deliveries.ts";
import { githubArrival } from "../../src/githosts/github/deliveries.ts";
import { gitlabArrival } from "../../src/githosts/gitlab/deliveries.ts";
import { bodyWith, type Changeable } from "../support/deliveries/bodies.ts";

/** Reads a body of an event. */
export type Reader = (body: Fields) => Arrival;

/** A push and a pull request of each host, with their readers. */
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
