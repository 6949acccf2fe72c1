import { type Call, json, missing } from "./answers.ts";
import type { HostedCheckRun, HostedRepository } from "./host-state.ts";

const shown = ({ id, sha, body }: HostedCheckRun) => ({ id, head_sha: sha, ...body });

/** GitHub's rules that its description omits. */
const problemOf = ({ status, conclusion, actions = [] }: Call["body"]): string | null => {
  if ((status === "completed") !== (conclusion !== undefined)) return "only a completed run has a conclusion";
  const isLong = ({ label, description, identifier }: Record<string, string>) =>
    label!.length > 20 || description!.length > 40 || identifier!.length > 20;
  return actions.some(isLong) ? "an action has too many characters" : null;
};

/** `/repos/{owner}/{repo}/check-runs`, and the check runs of a commit. */
export const checkRunCall = (
  method: string,
  { place, query, body }: Call,
  repository: HostedRepository,
  [what, id, more]: string[],
): Response | undefined => {
  const own = place.checkRuns.filter(({ repositoryId }) => repositoryId === repository.id);
  if (what === "commits" && more === "check-runs") {
    const found = own.filter(({ sha, body: { name } }) => sha === id && name === query.get("check_name"));
    return json(200, { total_count: found.length, check_runs: found.map(shown) });
  }
  if (what !== "check-runs") return undefined;
  const problem = problemOf(body);
  if (problem) return json(422, { message: problem });
  if (method === "POST") {
    const { head_sha: sha, ...made } = body;
    const run = { id: 7_001 + place.checkRuns.length, repositoryId: repository.id, sha, body: made, bodies: [made] };
    place.checkRuns.push(run);
    return json(201, shown(run));
  }
  const run = own.find((one) => one.id === Number(id));
  if (!run || method !== "PATCH") return missing();
  run.bodies.push(body);
  const { conclusion: _, ...before } = run.body;
  run.body = { ...before, ...body };
  return json(200, shown(run));
};

/** Answers with a person's permission in a repository. */
export const permissionCall = ({ place }: Call, login = ""): Response => {
  const name = place.settings.people[login];
  if (!name) return missing();
  const permission = { maintain: "write", triage: "read" }[name] ?? name;
  return json(200, { permission, role_name: name, user: { login } });
};
