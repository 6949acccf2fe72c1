import type { Build } from "../../protocol/build.ts";
import { isEnded } from "../../protocol/build-states.ts";
import type { Repository } from "../../protocol/repository.ts";
import type { Context } from "../core/context.ts";

/** A state of a build that its git host was told in vain, by its name there, and why. */
export interface RefusedState {
  name: string;
  reason: string;
}

/** What the host did not take of a build that has ended: of one that goes on the next state is tried again. */
export const refusedStates = async (
  { objects, orgId }: Context,
  { connectionId, gitHostRepoId }: Pick<Repository, "connectionId" | "gitHostRepoId">,
  { id, status, commitSha }: Build,
): Promise<RefusedState[]> => {
  if (connectionId === null || commitSha === null || !isEnded(status)) return [];
  const views = await objects.gitHost(orgId, connectionId).statuses(gitHostRepoId, commitSha);
  return views.flatMap(({ buildId, context, givenUp }) =>
    givenUp && buildId === id ? [{ name: context, reason: givenUp.reason }] : [],
  );
};
