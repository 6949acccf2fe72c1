import type { Explanation } from "../../protocol/explain.ts";
import { PLATFORM_TITLES, type Requires } from "../../protocol/pipeline.ts";
import { withCommas } from "../../protocol/units.ts";

/** The number of agents to list at once, and behind "more". Agents that lack the least come first. */
const NEAREST = 5;
const FOLDED = 100;

/** Describes the requirements that an agent must meet. */
export const requirementsInWords = ({ platform, ios, android, web, labels, xcode }: Requires): string[] => [
  ...(platform ? [PLATFORM_TITLES[platform]] : []),
  ...(ios ? ["iOS"] : []),
  ...(android ? ["Android"] : []),
  ...(web ? ["web"] : []),
  ...(xcode ? [`Xcode ${xcode}`] : []),
  ...(labels && labels.length > 0 ? [`${labels.length > 1 ? "labels" : "label"} ${labels.join(", ")}`] : []),
];

const Reasons = ({ reasons }: { reasons: { message: string }[] }) => (
  <ul>
    {reasons.map(({ message }) => (
      <li>{message}</li>
    ))}
  </ul>
);

const Agents = ({ agents, groups = [] }: Explanation) => {
  if (agents.length <= NEAREST) return <Reasons reasons={agents} />;
  return (
    <>
      <Reasons reasons={groups} />
      <p>Closest matches:</p>
      <Reasons reasons={agents.slice(0, NEAREST)} />
      <details id="other-agents">
        <summary>{withCommas(agents.length - NEAREST)} more</summary>
        <Reasons reasons={agents.slice(NEAREST, NEAREST + FOLDED)} />
        {agents.length > NEAREST + FOLDED && (
          <p>
            <a href="/app/agents">All agents</a>
          </p>
        )}
      </details>
    </>
  );
};

/** Explains why a build waits, with its requirements and then what each agent lacks. */
export const WhyWaiting = ({ why, canAdd }: { why: Explanation; canAdd: boolean }) => {
  const requirements = requirementsInWords(why.requires ?? {});
  return (
    <section class="waits" id="waits">
      <h2>Why it's waiting</h2>
      {requirements.length > 0 && (
        <p class="needs">
          Needs <strong>{requirements.join(", ")}</strong>.
        </p>
      )}
      <p>
        {why.message}
        {why.ahead !== null && why.ahead > 0 && ` ${why.ahead} ahead of it.`}
      </p>
      {why.agents.length > 0 && <Agents {...why} />}
      {canAdd && (why.code === "no-agents" || why.code === "no-capable-agent") && (
        <p>
          <a href="/app/agents/new">Add an agent</a>
        </p>
      )}
    </section>
  );
};
