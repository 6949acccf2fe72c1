import type { Agent } from "../../protocol/agent.ts";
import { formatDuration } from "../parts/format-time.ts";
import { Elapsed } from "../parts/time.tsx";
import type { Worked } from "./step-waterfall.tsx";

interface ToldTimesProps {
  of: Omit<Worked, "steps">;
  /** Absent where there are jobs instead. */
  steps?: Worked["steps"];
  /** Milliseconds that the last green run took. */
  usual: number | null;
  agent: Pick<Agent, "name"> | null;
  now: Date;
}

/** What happens before the first step, then the times in words: `4m 31s, usually 4m 10s`. */
export const ToldTimes = ({ of, steps, usual, agent, now }: ToldTimesProps) => {
  const { startedAt, finishedAt, queuedAt } = of;
  if (startedAt === null) return null;
  if (finishedAt === null && steps?.every((step) => step.startedAt === null)) {
    return (
      <>
        <bdi>{agent?.name ?? "An agent"}</bdi> is checking out, <Elapsed from={startedAt} to={null} now={now} />
      </>
    );
  }
  const waited = queuedAt === null ? 0 : Date.parse(startedAt) - Date.parse(queuedAt);
  return (
    <>
      <Elapsed from={startedAt} to={finishedAt} now={now} />
      {usual !== null && `, usually ${formatDuration(usual)}`}
      {waited >= 1000 && ` · waited ${formatDuration(waited)}`}
      {waited >= 1000 && agent && (
        <>
          {" "}
          for <bdi>{agent.name}</bdi>
        </>
      )}
    </>
  );
};
