import type { EnvironmentRequest, PlanToAccept } from "../../protocol/jobs.ts";
import { Problem } from "../../protocol/problem.ts";
import { type ReportedTests, TestReportTaken } from "../../protocol/test-report.ts";
import { BuildFailure, Cancel, ReportNotTaken } from "../build/failure.ts";
import { logger } from "../cli/logger.ts";
import { EnvironmentAnswer, PlanAnswer } from "./answers.ts";
import { type ApiAnswer, type ApiClient, type ApiRequest, describeAnswer, problemsIn, Unreachable } from "./client.ts";

const FILE_TRIES = 5;

interface BuildCallsOptions {
  client: ApiClient;
  /** Id of the held job or build. */
  id: string;
  lease: number;
  /** Aborted when this agent loses the lease. The calls then end with the signal's reason. */
  signal: AbortSignal;
  /** Aborted when the build must stop. Requests for its steps' needs then end. */
  cancel: AbortSignal;
  /** Called when the service reports that this agent has lost the lease. */
  onLeaseLost: () => void;
}

/** The agent's calls to the service about its build, except those for progress, log and result. */
export class BuildCalls {
  readonly #options: BuildCallsOptions;

  constructor(options: BuildCallsOptions) {
    this.#options = options;
  }

  start(): Promise<ApiAnswer> {
    return this.#send("start", { method: "POST" });
  }

  /** Sends the pipeline file to the service. A rejected file does not affect the build. */
  async sendFile(text: string): Promise<void> {
    const bytes = new TextEncoder().encode(text);
    try {
      const answer = await this.#send("file", { method: "PUT", bytes, maxTries: FILE_TRIES });
      if (answer.status >= 400) logger.warn(`the service rejected the pipeline file: ${describeAnswer(answer)}`);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      logger.warn(`cannot send the pipeline file: ${error.message}`);
    }
  }

  /**
   * Has the service plan the file's jobs.
   * @returns the jobs' keys; the lease is then over
   * @throws BuildFailure with the service's message about the file; Cancel lease-lost
   */
  async plan(body: PlanToAccept): Promise<string[]> {
    const answer = await this.#send("plan", { method: "PUT", body, signal: this.#options.cancel });
    const planned = answer.status === 200 ? PlanAnswer.safeParse(answer.body) : null;
    if (planned?.success) return planned.data.jobs.map(({ key }) => key);
    if (isLeaseLost(answer)) throw this.#leaseLost(answer);
    if (answer.status === 422) throw new BuildFailure("pipeline-invalid", problemsIn(answer, `${body.path}:`));
    if (answer.status === 413)
      throw new BuildFailure("pipeline-invalid", `${body.path} is too large for the service to plan`);
    throw new BuildFailure("agent-error", `the service did not plan ${body.path}: ${describeAnswer(answer)}`);
  }

  /**
   * Requests the variables of a build. The agent has read the build's file, and meets its requirements.
   * @throws BuildFailure when the service cannot compose them; Cancel lease-lost
   */
  async environment(body: typeof EnvironmentRequest._zod.output): Promise<EnvironmentAnswer> {
    const answer = await this.#send("environment", { method: "POST", body, signal: this.#options.cancel });
    const handed = answer.status === 200 ? EnvironmentAnswer.safeParse(answer.body) : null;
    if (handed?.success) return handed.data;
    if (isLeaseLost(answer)) throw this.#leaseLost(answer);
    throw new BuildFailure("environment", `the service did not provide the environment: ${problemsIn(answer)}`);
  }

  /**
   * Sends the job's test results.
   * @returns ids of tests that failed in other builds of the same commit
   * @throws ReportNotTaken; Cancel
   */
  async sendTests(body: ReportedTests): Promise<string[]> {
    const { client, id, lease, cancel } = this.#options;
    const call = { method: "PUT", path: `/job/${id}/tests`, body, lease, signal: cancel } as const;
    const answer = await client.send({ ...call, maxTries: FILE_TRIES }).catch((error: unknown) => {
      throw error instanceof Unreachable ? new ReportNotTaken(error.message) : error;
    });
    if (answer.status === 200) return TestReportTaken.safeParse(answer.body).data?.failedBefore ?? [];
    if (isLeaseLost(answer)) throw this.#leaseLost(answer);
    throw new ReportNotTaken(problemsIn(answer));
  }

  #leaseLost(answer: ApiAnswer): Cancel {
    logger.warn(describeAnswer(answer));
    this.#options.onLeaseLost();
    return new Cancel("lease-lost");
  }

  #send(verb: string, call: Omit<ApiRequest, "path" | "lease">): Promise<ApiAnswer> {
    const { client, id, lease, signal } = this.#options;
    return client.send({ signal, ...call, path: `/build/${id}/${verb}`, lease });
  }
}

/** Reports whether this agent has lost the lease. The service also answers this for a build that it has just ended. */
export const isLeaseLost = ({ status, body }: ApiAnswer): boolean =>
  status === 409 && !(Problem.safeParse(body).data?.type ?? "").endsWith("/conflict");
