import type { Form, Page, Pages } from "./page-definition.ts";
import { agentPage } from "./pages/agent.tsx";
import { agentPages } from "./pages/agents.tsx";
import { artifactPages } from "./pages/artifact.tsx";
import { auditPages } from "./pages/audit.tsx";
import { badgePages } from "./pages/badge.tsx";
import { buildPages } from "./pages/build.tsx";
import { buildsPage } from "./pages/builds.tsx";
import { comparePage } from "./pages/compare.tsx";
import { appPages } from "./pages/connections/app.tsx";
import { checkPages } from "./pages/connections/check.tsx";
import { connectionPages } from "./pages/connections/connection.tsx";
import { connectionsPages } from "./pages/connections/connections.tsx";
import { deliveryPages } from "./pages/connections/deliveries.tsx";
import { hookPages } from "./pages/connections/hook.tsx";
import { hostRepositoriesPages } from "./pages/connections/host-repositories.tsx";
import { deleteBuildPages } from "./pages/delete-build.tsx";
import { firstHourPage } from "./pages/first-hour.tsx";
import { groupPages } from "./pages/groups.tsx";
import { jobPages } from "./pages/job.tsx";
import { newAgentPages } from "./pages/new-agent.tsx";
import { overviewPage } from "./pages/overview.tsx";
import { pipelinePages } from "./pages/pipeline.tsx";
import { pipelineTriggersPages } from "./pages/pipeline-triggers.tsx";
import { repositoriesPages } from "./pages/repositories.tsx";
import { repositoryPages } from "./pages/repository.tsx";
import { repositoryCachePages } from "./pages/repository-cache.tsx";
import { runBuildPages } from "./pages/run-build.tsx";
import { schedulePages } from "./pages/schedules/schedule.tsx";
import { schedulesPages } from "./pages/schedules/schedules.tsx";
import { testPages } from "./pages/tests.tsx";
import { tokenPages } from "./pages/tokens.tsx";
import { variablePages } from "./pages/variable.tsx";
import { variablesPages } from "./pages/variables.tsx";

/** The first path that matches wins: `/builds/new` is listed before `/builds/:id`. */
const ALL: Pages = [
  overviewPage,
  firstHourPage,
  buildsPage,
  ...runBuildPages,
  ...buildPages,
  comparePage,
  ...jobPages,
  ...artifactPages,
  ...deleteBuildPages,
  ...newAgentPages,
  ...agentPages,
  agentPage,
  ...repositoriesPages,
  ...testPages,
  ...repositoryPages,
  ...repositoryCachePages,
  ...pipelinePages,
  ...pipelineTriggersPages,
  ...badgePages,
  ...schedulesPages,
  ...schedulePages,
  ...connectionsPages,
  ...connectionPages,
  ...appPages,
  ...hookPages,
  ...hostRepositoriesPages,
  ...deliveryPages,
  ...checkPages,
  ...variablesPages,
  ...variablePages,
  ...groupPages,
  ...tokenPages,
  ...auditPages,
];

/** Every page. */
export const PAGES = ALL.filter((one): one is Page => "show" in one);

/** The target of every form. */
export const FORMS = ALL.filter((one): one is Form => "submit" in one);
