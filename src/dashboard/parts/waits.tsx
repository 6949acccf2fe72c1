import type { Explanation } from "../../protocol/explain.ts";
import { PLATFORM_TITLES, type Requires } from "../../protocol/pipeline.ts";

/** Agents that are told of by name, the nearest to taking the build first; and those that one may fold open. */
const NEAREST = 5;
const FOLDED = 100;

const needsOf = ({ platform, ios, android, web, labels }: Requires): string[] => [
  ...(platform ? [PLATFORM_TITLES[platform]] : []),
  ...(ios ? ["iOS"] : []),
  ...(android ? ["Android"] : []),
  ...(web ? ["web"] : []),
  ...(labels && labels.length > 0 ? [`${labels.length > 1 ? "labels" : "label"} ${labels.join(", ")}`] : []),
];

const List = ({ of }: { of: { message: string }[] }) => (
  <ul>
    {of.map(({ message }) => (
      <li>{message}</li>
    ))}
  </ul>
);

const Agents = ({ agents, groups = [] }: Explanation) => {
  if (agents.length <= NEAREST) return <List of={agents} />;
  return (
    <>
      <List of={groups} />
      <p>The nearest:</p>
      <List of={agents.slice(0, NEAREST)} />
      <details id="other-agents">
        <summary>{(agents.length - NEAREST).toLocaleString("en")} more</summary>
        <List of={agents.slice(NEAREST, NEAREST + FOLDED)} />
        {agents.length > NEAREST + FOLDED && (
          <p>
            <a href="/app/agents">All agents</a>
          </p>
        )}
      </details>
    </>
  );
};

/** Why a build waits: what it needs, then who lacks it. */
export const Waits = ({ why, canAdd }: { why: Explanation; canAdd: boolean }) => {
  const needs = needsOf(why.requires ?? {});
  return (
    <section class="waits" id="waits">
      <h2>Why it waits</h2>
      {needs.length > 0 && (
        <p>
          It needs <strong>{needs.join(", ")}</strong>.
        </p>
      )}
      <p>
        {why.message}
        {why.ahead !== null && why.ahead > 0 && ` ${why.ahead} before it.`}
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
