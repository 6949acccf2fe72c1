import type { Form, Page } from "./page-definition.ts";
import { agentPage } from "./pages/agent.tsx";
import { agentForms, agentPages } from "./pages/agents.tsx";
import { artifactForms, artifactPages } from "./pages/artifact.tsx";
import { auditPages } from "./pages/audit.tsx";
import { badgeForms, badgePages } from "./pages/badge.tsx";
import { buildPage, cancelForm, retryForm } from "./pages/build.tsx";
import { buildsPage } from "./pages/builds.tsx";
import { comparePage } from "./pages/compare.tsx";
import { appForms, appPages } from "./pages/connections/app.tsx";
import { checkPages } from "./pages/connections/check.tsx";
import { connectionForms, connectionPages } from "./pages/connections/connection.tsx";
import { connectionsForms, connectionsPages } from "./pages/connections/connections.tsx";
import { deliveryForms, deliveryPages } from "./pages/connections/deliveries.tsx";
import { hookForms, hookPages } from "./pages/connections/hook.tsx";
import { hostRepositoriesForms, hostRepositoriesPages } from "./pages/connections/host-repositories.tsx";
import { deleteBuildForms, deleteBuildPages } from "./pages/delete-build.tsx";
import { firstHourPage } from "./pages/first-hour.tsx";
import { groupForms, groupPages } from "./pages/groups.tsx";
import { jobForms, jobPages } from "./pages/job.tsx";
import { newAgentForms, newAgentPages } from "./pages/new-agent.tsx";
import { overviewPage } from "./pages/overview.tsx";
import { pipelineForms, pipelinePages } from "./pages/pipeline.tsx";
import { pipelineTriggersForms, pipelineTriggersPages } from "./pages/pipeline-triggers.tsx";
import { repositoriesForms, repositoriesPages } from "./pages/repositories.tsx";
import { repositoryForms, repositoryPages } from "./pages/repository.tsx";
import { repositoryCacheForms, repositoryCachePages } from "./pages/repository-cache.tsx";
import { runBuildForms, runBuildPages } from "./pages/run-build.tsx";
import { scheduleForms, schedulePages } from "./pages/schedules/schedule.tsx";
import { schedulesForms, schedulesPages } from "./pages/schedules/schedules.tsx";
import { testPages } from "./pages/tests.tsx";
import { tokenForms, tokenPages } from "./pages/tokens.tsx";
import { variableForms, variablePages } from "./pages/variable.tsx";
import { variablesForms, variablesPages } from "./pages/variables.tsx";

/** Every page. The first path that matches wins: `/builds/new` is listed before `/builds/:id`. */
export const PAGES: Page[] = [
  overviewPage,
  firstHourPage,
  buildsPage,
  ...runBuildPages,
  buildPage,
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

/** The target of every form. */
export const FORMS: Form[] = [
  ...runBuildForms,
  cancelForm,
  retryForm,
  ...jobForms,
  ...artifactForms,
  ...deleteBuildForms,
  ...newAgentForms,
  ...agentForms,
  ...repositoriesForms,
  ...repositoryForms,
  ...repositoryCacheForms,
  ...pipelineForms,
  ...pipelineTriggersForms,
  ...badgeForms,
  ...schedulesForms,
  ...scheduleForms,
  ...connectionsForms,
  ...connectionForms,
  ...appForms,
  ...hookForms,
  ...hostRepositoriesForms,
  ...deliveryForms,
  ...variablesForms,
  ...variableForms,
  ...groupForms,
  ...tokenForms,
];
