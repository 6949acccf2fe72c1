import type { Arrival } from "../../../src/domain/githost/arrival.ts";
import type { Fields } from "../../../src/domain/githost/body.ts";
import { giteaArrival } from "../../../src/domain/githost/gitea.ts";
import { githubArrival } from "../../../src/domain/githost/github.ts";
import { gitlabArrival } from "../../../src/domain/githost/gitlab.ts";
import SAMPLE from "./deliveries.json";

/** A value of JSON at which tests change fields without asking what is there. */
// biome-ignore lint/suspicious/noExplicitAny: the bodies of three hosts.
type Changeable = any;

/** The body of a delivery of the sample, after a change. */
export const sample = (id: string, change: (body: Changeable) => void = () => {}): Fields => {
  const body = JSON.parse(SAMPLE.deliveries.find((delivery) => delivery.id === id)!.payload);
  change(body);
  return body;
};

/** Reads a body of an event. */
export type Reader = (body: Fields) => Arrival;

/** A push of the sample's Gitea, which has none that is no deletion. */
export const giteaPush = (change: (body: Changeable) => void = () => {}): Fields =>
  sample("gitea-push-branch-delete", (body) => {
    const sha = "a".repeat(40);
    const commit = { id: sha, message: "Mend it\n\nAt last.\n", author: { name: "Ann", email: "ann@example.com" } };
    const first = { ...commit, id: "b".repeat(40), message: "Break it\n" };
    body.after = sha;
    body.head_commit = commit;
    body.commits = [
      { ...commit, added: [], removed: [], modified: ["a.ts"] },
      { ...first, added: ["b.ts"], removed: ["old.ts"], modified: ["a.ts"] },
    ];
    body.total_commits = 2;
    change(body);
  });

/** A push and a pull request of each host, with what reads them. */
export const PUSHES: [host: string, body: (change?: (body: Changeable) => void) => Fields, read: Reader][] = [
  ["GitHub", (change) => sample("github-wp-hookpush", change), (body) => githubArrival("push", body)],
  ["GitLab", (change) => sample("gitlab-goscm-push-subgroup", change), (body) => gitlabArrival("Push Hook", body)],
  ["Gitea", giteaPush, (body) => giteaArrival("push", body)],
];
export const PULLS: typeof PUSHES = [
  [
    "GitHub",
    (change) => sample("github-octokit-pull-request-opened-with-organization-payload", change),
    (body) => githubArrival("pull_request", body),
  ],
  [
    "GitLab",
    (change) => sample("gitlab-wp-hookpullrequestopened", change),
    (body) => gitlabArrival("Merge Request Hook", body),
  ],
  [
    "Gitea",
    (change) => sample("gitea-goscm-pull-request-reopened", change),
    (body) => giteaArrival("pull_request", body),
  ],
];
