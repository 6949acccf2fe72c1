// npx openapi-typescript $MILLRACE_URL/openapi.json --output api.d.ts
// MILLRACE_URL=... MILLRACE_TOKEN=... node example.ts https://git.example/acme/app.git
import type { paths } from "./api.d.ts";

const { MILLRACE_URL: url = "http://127.0.0.1:8787", MILLRACE_TOKEN: token = "", RELEASE = "1" } = process.env;
const cloneUrl = process.argv[2] ?? "";

type Methods<M extends string> = { [P in keyof paths]: paths[P] extends { [K in M]: object } ? P : never }[keyof paths];
type Json<T> = T extends { content: { "application/json": infer J } } ? J : never;
type Body<O> = O extends { requestBody: infer R } ? Json<R> : undefined;
type Answer<O> = O extends { responses: infer R } ? Json<R[keyof R & (200 | 201)]> : never;

const call = async <M extends "get" | "post", P extends Methods<M>>(
  method: M,
  path: P,
  body?: Body<paths[P][M]>,
  { id = "", headers = {} }: { id?: string; headers?: Record<string, string> } = {},
): Promise<Answer<paths[P][M]>> => {
  const response = await fetch(url + path.replace("{id}", id), {
    method: method.toUpperCase(),
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", ...headers },
    body: body && JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(answer), { cause: answer });
  return answer;
};

/** The id of what is made, or of what is there already: the script may run as often as it likes. */
const ensure = <P extends "/repository" | "/pipeline" | "/secrets/variables">(path: P, body: Body<paths[P]["post"]>) =>
  call("post", path as "/repository", body as Body<paths["/repository"]["post"]>).then(
    ({ id }) => id,
    (error: { cause?: { existingId?: string } }) => error.cause?.existingId ?? Promise.reject(error),
  );

const [, fullName = ""] = /([\w.-]+\/[\w.-]+)\.git$/.exec(cloneUrl) ?? [];
const { orgId } = await call("get", "/token/self");
const repoId = await ensure("/repository", { gitHostRepoId: 1, fullName, cloneUrl });
const pipelineId = await ensure("/pipeline", { repoId, name: "release" });
await ensure("/secrets/variables", { key: "REGION", value: "eu", isSecret: false, scope: "organization", orgId });
await ensure("/secrets/variables", {
  key: "STORE_TOKEN",
  value: "s3cr3t-value",
  isSecret: true,
  scope: "pipeline",
  pipelineId,
});
const headers = { "Idempotency-Key": `release-${RELEASE}` };
let build = await call("post", "/build", { pipelineId, branch: "main", envVariables: { RELEASE } }, { headers });
while (!build.finishedAt) {
  await new Promise((resolve) => setTimeout(resolve, 500));
  build = await call("get", "/build/{id}", undefined, { id: build.id });
}
console.log(`Build #${build.number} ${build.status}`);
process.exitCode = build.status === "succeeded" ? 0 : 1;
