import type { Route } from "../../src/api/route.ts";
import { create, newPipeline } from "./api.ts";
import { type BuildSetup, newBuildSetup, triggerBuild } from "./build-setup.ts";

export interface FilledOrganization extends BuildSetup {
  /** An id of the organization's own record, by the noun that begins its paths. */
  ids: Record<string, string>;
}

/** Creates an organization with one record of each kind. */
export const newFilledOrganization = async (): Promise<FilledOrganization> => {
  const works = await newBuildSetup();
  const { admin, orgId, repository, pipeline, agent } = works;
  const group = await create(admin, "/secrets/groups", { name: "g" });
  const secret = { key: "K", value: "v", isSecret: true, scope: "organization", orgId };
  const variable = await create(admin, "/secrets/variables", secret);
  const { id: buildId } = await triggerBuild(admin, pipeline.id);
  const definition = "jobs: { a: { steps: [{ run: make }] } }";
  const several = await newPipeline(admin, repository.id, { name: "several", definition });
  const { jobs } = await triggerBuild(admin, several.id, { commitSha: "c".repeat(40) });
  const token = await create(admin, "/token", { name: "t", kind: "api" });
  const host = { kind: "gitea", name: "h", webUrl: "https://git.example" };
  const connection = await create(admin, "/connection", host);
  const scheduled = { pipelineId: pipeline.id, name: "n", cron: "0 3 * * *" };
  const { id: scheduleId } = await create(admin, "/schedule", scheduled);
  const ids = {
    "/connection": connection.id,
    "/schedule": scheduleId,
    "/repository": repository.id,
    "/pipeline": pipeline.id,
    "/secrets/groups": group.id,
    "/secrets/variables": variable.id,
    "/build": buildId,
    "/job": jobs?.[0]?.id ?? "",
    "/buildagent": agent.id,
    "/token": token.id,
    "/organization": orgId,
  };
  return { ...works, ids };
};

/** Returns the noun of a path with an id: `/secrets/groups`, `/build`. */
export const nounOf = ({ path }: Route): string => path.split("/:")[0] ?? "";
