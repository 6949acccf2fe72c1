import { deleteBuild, deleteLog, getBuild } from "../../services/builds.ts";
import type { Context } from "../../services/core/context.ts";
import { getRepository } from "../../services/repositories.ts";
import { confirmRemoval } from "../confirm-removal.tsx";
import type { Form, Page } from "../page-definition.ts";
import { byId, nullIfNotFound } from "../verb-input.ts";

/** The number of a build and the name of its repository. */
const nameOf = async (context: Context, id: string): Promise<string> => {
  const { number, repoId } = await getBuild.run(context, byId(id));
  const repository = await nullIfNotFound(getRepository.run(context, byId(repoId)));
  return `#${number} of ${repository?.fullName ?? "a removed repository"}`;
};

const ofBuild = confirmRemoval({
  path: "/builds/:id/delete",
  section: "builds",
  access: deleteBuild.access,
  verb: "delete",
  async question(context, id) {
    const consequences =
      "Its log, steps and summary are deleted for good. Its number is not used again, and the audit keeps who deleted it.";
    return { name: await nameOf(context, id), consequences, back: `/app/builds/${id}`, next: "/app/builds" };
  },
  remove: (context, id) => deleteBuild.run(context, byId(id)),
});

const ofLog = confirmRemoval({
  path: "/builds/:id/log/delete",
  section: "builds",
  access: deleteLog.access,
  verb: "delete",
  async question(context, id) {
    const name = `the log of ${await nameOf(context, id)}`;
    const consequences = "The log of every attempt is deleted for good. The build stays, and can be retried.";
    return { name, consequences, back: `/app/builds/${id}`, next: `/app/builds/${id}` };
  },
  remove: (context, id) => deleteLog.run(context, byId(id)),
});

export const deleteBuildPages: Page[] = [ofBuild.page, ofLog.page];
export const deleteBuildForms: Form[] = [ofBuild.form, ofLog.form];
