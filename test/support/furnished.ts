import type { Route } from "../../src/api/route.ts";
import { created, newPipeline } from "./api.ts";
import { type BuildSetup, newBuildSetup, trigger } from "./build-setup.ts";

export interface Furnished extends BuildSetup {
  /** An id of the organization's own by the noun that its paths begin with. */
  ids: Record<string, string>;
}

/** An organization with one record of each kind. */
export const newFurnished = async (): Promise<Furnished> => {
  const works = await newBuildSetup();
  const { admin, orgId, repository, pipeline, agent } = works;
  const group = await created(admin, "/secrets/groups", { name: "g" });
  const secret = { key: "K", value: "v", isSecret: true, scope: "organization", orgId };
  const variable = await created(admin, "/secrets/variables", secret);
  const { id: buildId } = await trigger(admin, pipeline.id);
  const definition = "jobs: { a: { steps: [{ run: make }] } }";
  const several = await newPipeline(admin, repository.id, { name: "several", definition });
  const { jobs } = await trigger(admin, several.id, { commitSha: "c".repeat(40) });
  const token = await created(admin, "/token", { name: "t", kind: "api" });
  const host = { kind: "gitea", name: "h", webUrl: "https://git.example" };
  const connection = await created(admin, "/connection", host);
  const scheduled = { pipelineId: pipeline.id, name: "n", cron: "0 3 * * *" };
  const { id: scheduleId } = await created(admin, "/schedule", scheduled);
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

/** The noun of a path that has an id: `/secrets/groups`, `/build`. */
export const nounOf = ({ path }: Route): string => path.split("/:")[0] ?? "";
