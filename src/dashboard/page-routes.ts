import type { Form, Page } from "./page-definition.ts";
import { agentForms, agentPages } from "./pages/agents.tsx";
import { auditPages } from "./pages/audit.tsx";
import { buildPage, cancelForm, retryForm } from "./pages/build.tsx";
import { buildsPage } from "./pages/builds.tsx";
import { deleteBuildForms, deleteBuildPages } from "./pages/delete-build.tsx";
import { groupForms, groupPages } from "./pages/groups.tsx";
import { newAgentForms, newAgentPages } from "./pages/new-agent.tsx";
import { pipelineForms, pipelinePages } from "./pages/pipeline.tsx";
import { repositoriesForms, repositoriesPages } from "./pages/repositories.tsx";
import { repositoryForms, repositoryPages } from "./pages/repository.tsx";
import { runBuildForms, runBuildPages } from "./pages/run-build.tsx";
import { tokenForms, tokenPages } from "./pages/tokens.tsx";
import { variableForms, variablePages } from "./pages/variable.tsx";
import { variablesForms, variablesPages } from "./pages/variables.tsx";

/** Every page. The first path that matches wins: `/builds/new` is listed before `/builds/:id`. */
export const PAGES: Page[] = [
  buildsPage,
  ...runBuildPages,
  buildPage,
  ...deleteBuildPages,
  ...newAgentPages,
  ...agentPages,
  ...repositoriesPages,
  ...repositoryPages,
  ...pipelinePages,
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
  ...deleteBuildForms,
  ...newAgentForms,
  ...agentForms,
  ...repositoriesForms,
  ...repositoryForms,
  ...pipelineForms,
  ...variablesForms,
  ...variableForms,
  ...groupForms,
  ...tokenForms,
];
