import { cancelJob, getJob } from "../../services/build-jobs.ts";
import { explainWait } from "../../services/explain.ts";
import { approve, reject } from "../../services/gates.ts";
import { BUILD_ROUTES } from "./builds.ts";
import { act, aliasesOf, describing, get, type Route } from "./route.ts";

const GATE = describing
  ? "Needs the role that the gate names, which may be above member. A gate is decided once: the same decision again has the same answer, another one is 409."
  : "";

/** The jobs of builds. The one that a build begins with has its id. */
export const JOB_ROUTES: Route[] = [
  get(
    "/job/:id",
    { getJob },
    describing && {
      tag: "Builds",
      summary: "Get a job",
      description: "One job of a build of several, with its steps.",
    },
  ),
  ...aliasesOf(BUILD_ROUTES),
  get(
    "/job/:id/explain",
    { explainJob: explainWait },
    describing && { tag: "Builds", summary: "Explain why a job waits, agent by agent" },
  ),
  act(
    "/job/:id/cancel",
    { cancelJob },
    describing && {
      tag: "Builds",
      summary: "Cancel a job",
      description:
        "The other jobs of the build go on, but for those that need it. The answer is 409 when it has ended.",
      problems: ["conflict"],
    },
  ),
  act(
    "/job/:id/approve",
    { approveJob: approve },
    describing && { tag: "Builds", summary: "Open a job's gate", description: GATE, problems: ["conflict"] },
  ),
  act(
    "/job/:id/reject",
    { rejectJob: reject },
    describing && {
      tag: "Builds",
      summary: "Keep a job's gate closed",
      description: `The job fails. ${GATE}`,
      problems: ["conflict"],
    },
  ),
  act(
    "/build/:id/approve",
    { approveBuild: approve },
    describing && {
      tag: "Builds",
      summary: "Open the gate of a build",
      description: `For a build in which one gate asks. ${GATE}`,
      problems: ["conflict"],
    },
  ),
  act(
    "/build/:id/reject",
    { rejectBuild: reject },
    describing && {
      tag: "Builds",
      summary: "Keep the gate of a build closed",
      description: `For a build in which one gate asks: its job fails. ${GATE}`,
      problems: ["conflict"],
    },
  ),
];
