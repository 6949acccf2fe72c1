import { PIPELINE_DEFAULTS } from "../../protocol/pipeline.ts";
import type { Context } from "../../services/core/context.ts";
import { hasRole } from "../permissions.ts";

interface FirstStepsProps {
  context: Context;
  /** How many the organization has. */
  repositories: number;
  agents: number;
}

/** What to do first in an organization without builds. */
export const FirstSteps = ({ context, repositories, agents }: FirstStepsProps) => {
  const steps = [
    {
      title: "Connect a repository",
      reason: "so that there is something to build.",
      href: "/app/repositories/new",
      isDone: repositories > 0,
      isOpen: hasRole(context, "maintainer"),
    },
    {
      title: "Add an agent",
      reason: "a Mac or Linux machine of yours that runs the steps.",
      href: "/app/agents/new",
      isDone: agents > 0,
      isOpen: hasRole(context, "admin"),
    },
    {
      title: "Run a build",
      reason: `it runs ${PIPELINE_DEFAULTS.configPath} of the commit, or the definition of a pipeline.`,
      href: "/app/builds/new",
      isDone: false,
      isOpen: hasRole(context, "member") && repositories > 0,
    },
  ];
  return (
    <ol class="first-steps" aria-label="First steps">
      {steps.map(({ title, reason, href, isDone, isOpen }) => (
        <li>
          {isDone && <span class="done">{title}</span>}
          {!isDone && (isOpen ? <a href={href}>{title}</a> : title)}: {reason}
        </li>
      ))}
    </ol>
  );
};
