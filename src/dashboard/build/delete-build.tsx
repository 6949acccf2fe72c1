import { deleteBuild, deleteLog, getBuild } from "../../services/builds/builds.ts";
import type { Context } from "../../services/core/context.ts";
import { nullIfNotFound } from "../../services/core/refusal.ts";
import { getRepository } from "../../services/repositories/repositories.ts";
import { confirmRemoval } from "../shell/confirm-removal.tsx";
import type { Pages } from "../shell/page-definition.ts";
import { byId } from "../shell/verb-input.ts";

/** The number of a build and the name of its repository. */
const nameOf = async (context: Context, id: string): Promise<string> => {
  const { number, repoId } = await getBuild.run(context, byId(id));
  const repository = await nullIfNotFound(getRepository.run(context, byId(repoId)));
  return `#${number} of ${repository?.fullName ?? "a removed repository"}`;
};

interface Deletion {
  path: string;
  verb: typeof deleteBuild | typeof deleteLog;
  /** What is deleted of the build with this name. */
  of(build: string): string;
  consequences: string;
  /** The page that follows. */
  next(id: string): string;
}

const confirmDeletion = ({ path, verb, of, consequences, next }: Deletion) =>
  confirmRemoval({
    path,
    section: "builds",
    access: verb.access,
    verb: "delete",
    async question(context, id) {
      return { name: of(await nameOf(context, id)), consequences, back: `/app/builds/${id}`, next: next(id) };
    },
    remove: (context, id) => verb.run(context, byId(id)),
  });

const ofBuild = confirmDeletion({
  path: "/builds/:id/delete",
  verb: deleteBuild,
  of: (build) => build,
  consequences:
    "Its log, steps and summary are deleted for good. Its number is not used again, and the audit keeps who deleted it.",
  next: () => "/app/builds",
});

const ofLog = confirmDeletion({
  path: "/builds/:id/log/delete",
  verb: deleteLog,
  of: (build) => `the log of ${build}`,
  consequences: "The log of every attempt is deleted for good. The build stays, and can be retried.",
  next: (id) => `/app/builds/${id}`,
});

export const deleteBuildPages: Pages = [...ofBuild, ...ofLog];
