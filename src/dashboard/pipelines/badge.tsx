import { createBadge, deleteBadge } from "../../services/builds/badges.ts";
import { getPipeline } from "../../services/repositories/pipelines.ts";
import { Copyable } from "../parts/copied-code.tsx";
import { confirmRemoval } from "../shell/confirm-removal.tsx";
import { formAt, type Pages, type View } from "../shell/page-definition.ts";
import { byId } from "../shell/verb-input.ts";
import { pipelinePage } from "./pipeline.tsx";

const badgeView = (
  pipeline: { id: string; name: string },
  { url, markdown }: { url: string; markdown: string },
): View => ({
  title: "Badge",
  section: "repositories",
  trail: [{ name: pipeline.name, href: `/app/pipelines/${pipeline.id}` }],
  body: (
    <div class="column">
      <h1>Badge</h1>
      <p>
        A status image for the newest build of the default branch. Anyone with this URL can see it. The URL is shown
        only once.
      </p>
      <h2>Markdown for a README</h2>
      <Copyable text={markdown} />
      <h2>URL</h2>
      <Copyable text={url} />
      <p class="hint">
        Add <code>?branch=NAME</code> for another branch.
      </p>
    </div>
  ),
});

const makeForm = formAt("/pipelines/:id/badge", pipelinePage, createBadge, async (context, { params }) => {
  const id = byId(params.id);
  const pipeline = await getPipeline.run(context, id);
  return badgeView(pipeline, await createBadge.run(context, id));
});

const revoke = confirmRemoval({
  path: "/pipelines/:id/badge/revoke",
  section: "repositories",
  access: deleteBadge.access,
  verb: "revoke",
  async question(context, id) {
    const { name } = await getPipeline.run(context, byId(id));
    const pipelineAddress = `/app/pipelines/${id}`;
    return {
      name: `the badge for ${name}`,
      consequences: "Its URL stops working everywhere. A new badge has a new URL.",
      back: pipelineAddress,
      next: pipelineAddress,
    };
  },
  remove: (context, id) => deleteBadge.run(context, byId(id)),
});

export const badgePages: Pages = [...revoke, makeForm];
