import { PIPELINE_DEFAULTS } from "../../protocol/pipeline.ts";
import type { Context } from "../../services/core/context.ts";
import { may } from "../may.ts";

interface Done {
  repositories: number;
  agents: number;
}

/** What an organization without a build does first. */
export const FirstSteps = ({ context, repositories, agents }: Done & { context: Context }) => {
  const steps = [
    {
      ...{ words: "Connect a repository", href: "/app/repositories/new", isDone: repositories > 0 },
      why: "so that there is something to build.",
      role: "maintainer",
    },
    {
      ...{ words: "Add an agent", href: "/app/agents/new", isDone: agents > 0 },
      why: "a Mac or Linux machine of yours that runs the steps.",
      role: "admin",
    },
    {
      ...{ words: "Run a build", href: "/app/builds/new", isDone: false },
      why: `it runs ${PIPELINE_DEFAULTS.configPath} of the commit, or what you write as a pipeline.`,
      role: "member",
    },
  ] as const;
  return (
    <ol class="first-steps" aria-label="First steps">
      {steps.map(({ words, href, isDone, why, role }) => (
        <li>
          {isDone ? (
            <span class="done">{words}</span>
          ) : may(context, role) && (role !== "member" || repositories > 0) ? (
            <a href={href}>{words}</a>
          ) : (
            words
          )}
          : {why}
        </li>
      ))}
    </ol>
  );
};
