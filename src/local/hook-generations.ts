/** What the service says of a connection. */
interface Checked {
  name: string;
  problem: string | null;
  missing: string[];
  hooks: { fullName: string; problem: string | null }[];
}

const ask = async <T>(service: string, token: string, path: string): Promise<T | null> => {
  const answer = await fetch(new URL(path, service), { headers: { Authorization: `Bearer ${token}` } });
  if (answer.status === 403) return null;
  if (!answer.ok) throw new Error(`GET ${path} was answered with ${answer.status}`);
  return (await answer.json()) as T;
};

/**
 * Compares what the service and each git host know of the hooks; null where the token is not a maintainer's.
 * @throws where the service does not answer
 */
export const checkHooks = async (service: string, token: string): Promise<Checked[] | null> => {
  const connections = await ask<{ id: string; name: string; isActive: boolean }[]>(
    service,
    token,
    "/connection?limit=100",
  );
  if (connections === null) return null;
  const active = connections.filter(({ isActive }) => isActive);
  const checks: Checked[] = [];
  // One after the other: each asks its host for every hook.
  for (const { id, name } of active) {
    const check = await ask<Omit<Checked, "name">>(service, token, `/connection/${id}/check`);
    if (check) checks.push({ ...check, name });
  }
  return checks;
};

/** A sentence for each connection whose hooks at the host are of an older generation, gone, or not to be asked for. */
export const hookProblems = (checks: Checked[]): string[] =>
  checks.flatMap(({ name, problem, missing, hooks }) => {
    const old = hooks.filter((hook) => hook.problem !== null).map(({ fullName }) => fullName);
    const told = [...(problem === null ? [] : [problem]), ...missing, ...(old.length === 0 ? [] : [old.join(", ")])];
    return told.length === 0 ? [] : [`${name}: ${told.join(" ")}`];
  });
