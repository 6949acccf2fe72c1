import { listAgents } from "../../services/agents.ts";
import { listBuilds } from "../../services/build-list.ts";
import { listRepositories } from "../../services/repositories.ts";
import { FIRST_HOUR_SECONDS, FirstHour } from "../first-hour/first-hour.tsx";
import type { Page } from "../page-definition.ts";
import { noInput } from "../verb-input.ts";

/** What an empty organization sees first, for those who want it again. */
export const firstHourPage: Page = {
  path: "/first-hour",
  role: "viewer",
  async show(context) {
    const [repositories, agents, builds] = await Promise.all([
      listRepositories.run(context, noInput),
      listAgents.run(context, noInput),
      listBuilds.run(context, { ...noInput, query: { limit: 1 } }),
    ]);
    return {
      title: "First hour",
      section: "overview",
      trail: [{ name: "Overview", href: "/app" }],
      refreshSeconds: FIRST_HOUR_SECONDS,
      body: (
        <>
          <h1>First hour</h1>
          <FirstHour context={context} repositories={repositories} agents={agents} hasBuilds={builds.length > 0} />
        </>
      ),
    };
  },
};
