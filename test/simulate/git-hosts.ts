import type { HostReport } from "../../src/githosts/core/host-report.ts";
import { isEnded } from "./specification.ts";
import type { SimStorage } from "./storage.ts";
import { must } from "./violation.ts";

const ERRORS: readonly unknown[] = ["agent-lost", "environment", "agent-error"];

/** Returns the state that a host must show for an ended build, by this second implementation. */
const stateOf = (status: string, reason: unknown): string => {
  if (status === "succeeded") return "success";
  return status === "canceled" || ERRORS.includes(reason) ? "error" : "failure";
};

/** A build that waits only for people may show success, and continues. */
const isOver = ({ state, description }: HostReport): boolean =>
  state !== "pending" && !description.endsWith("waits for approval");

/** The reports to the objects of git hosts: the newest build of each commit and context, in its newest version. */
export class SimGitHosts {
  /** An ended build may run again if the pool and D1 were both restored. */
  mayRunAgain = false;
  readonly #told = new Map<string, HostReport>();

  report(reports: readonly HostReport[]): void {
    for (const report of reports) {
      const key = `${report.connectionId} ${report.repoId} ${report.sha} ${report.context}`;
      const known = this.#told.get(key);
      const isNewer =
        !known || report.number > known.number || (report.number === known.number && report.version > known.version);
      if (!isNewer) continue;
      const isBack = known?.buildId === report.buildId && isOver(known) && !isOver(report);
      must(21, !isBack || this.mayRunAgain, "an ended build is reported as waiting again");
      this.#told.set(key, report);
    }
  }

  /** Once nothing waits, the end of each build is reported, unless a newer build of its commit and context is. */
  check({ rows }: SimStorage): void {
    for (const { id, host, commitSha, number, status, reason } of rows.builds.values()) {
      if (!host || commitSha === null || !isEnded(status)) continue;
      const told = this.#told.get(`${host.connectionId} ${host.repoId} ${commitSha} ${host.context}`);
      must(21, told !== undefined, `the git host heard nothing of ${id}`);
      const isRight = told.number > number || told.state === stateOf(status, reason);
      must(21, told.number > number || isOver(told), `the git host shows that ${id} waits for people`);
      must(21, isRight, `the git host shows ${told.state} for ${id}, which is ${status}`);
    }
  }
}
