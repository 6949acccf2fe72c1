import { agentPage } from "../agents/agent.tsx";
import { agentPages } from "../agents/agents.tsx";
import { newAgentPages } from "../agents/new-agent.tsx";
import { auditPages } from "../audit/audit.tsx";
import { artifactPages } from "../build/artifact.tsx";
import { buildPages, deleteBuildPages } from "../build/build.tsx";
import { comparePage } from "../build/compare.tsx";
import { buildsPage } from "../builds/builds.tsx";
import { runBuildPages } from "../builds/run-build.tsx";
import { appPages } from "../connections/app.tsx";
import { checkPages } from "../connections/check.tsx";
import { connectionPages } from "../connections/connection.tsx";
import { connectionsPages } from "../connections/connections.tsx";
import { deliveryPages } from "../connections/deliveries.tsx";
import { hookPages } from "../connections/hook.tsx";
import { hostRepositoriesPages } from "../connections/host-repositories.tsx";
import { jobPages } from "../job/job.tsx";
import { firstHourPage } from "../overview/first-hour.tsx";
import { overviewPage } from "../overview/overview.tsx";
import { badgePages } from "../pipelines/badge.tsx";
import { pipelinePages } from "../pipelines/pipeline.tsx";
import { pipelineTriggersPages } from "../pipelines/pipeline-triggers.tsx";
import { schedulePages } from "../pipelines/schedule.tsx";
import { schedulesPages } from "../pipelines/schedules.tsx";
import { testPages } from "../pipelines/tests.tsx";
import { repositoriesPages } from "../repositories/repositories.tsx";
import { repositoryPages } from "../repositories/repository.tsx";
import { repositoryCachePages } from "../repositories/repository-cache.tsx";
import { tokenPages } from "../tokens/tokens.tsx";
import { groupPages } from "../variables/groups.tsx";
import { variablePages } from "../variables/variable.tsx";
import { variablesPages } from "../variables/variables.tsx";
import type { Form, Page, Pages } from "./page-definition.ts";

/** All pages and forms. The first matching path wins, so `/builds/new` precedes `/builds/:id`. */
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

/** All pages. */
export const PAGES = ALL.filter((one): one is Page => "show" in one);

/** All targets of forms. */
export const FORMS = ALL.filter((one): one is Form => "submit" in one);
