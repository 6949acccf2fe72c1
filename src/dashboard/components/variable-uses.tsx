import type { Variable } from "../../protocol/variable.ts";
import type { Context } from "../../services/core/context.ts";
import { type Named, readNames } from "../../services/names.ts";
import { listUses } from "../../services/variable-uses.ts";
import { byId } from "../verb-input.ts";
import { RelativeTime } from "./time.tsx";

const SHOWN = 20;
/** Builds that are named at once. */
const NAMED = 100;

interface Uses {
  shown: Awaited<ReturnType<typeof listUses.run>>;
  names: Map<string, Named>;
  /** How many are known, shown or not. */
  known: number;
}

/** The first uses of the newest days; all that are known where the address asks for them (`?uses=all`). */
export const readUses = async (context: Context, id: string, query: URLSearchParams): Promise<Uses> => {
  const uses = await listUses.run(context, byId(id));
  const shown = query.get("uses") === "all" ? uses : uses.slice(0, SHOWN);
  const ids = shown.map(({ buildId }) => buildId);
  const parts = [ids.slice(0, NAMED), ids.slice(NAMED)];
  const named = await Promise.all(parts.map((build) => readNames(context, { build })));
  return { shown, names: new Map(named.flatMap((part) => [...part])), known: uses.length };
};

/** The builds since a day that may have got it: of its repository or pipeline, or all. */
const buildsSince = (day: string, { repoId, pipelineId }: Variable): string => {
  const owner = { ...(repoId && { repoId }), ...(pipelineId && { pipelineId }) };
  return `/app/builds?${new URLSearchParams({ ...owner, since: day, view: "all" })}`;
};

interface VariableUsesProps {
  variable: Variable;
  uses: Uses;
  now: Date;
}

/** The service keeps the first use of each day: the page says so, and leads to the other builds. */
export const VariableUses = ({ variable, uses: { shown, names, known }, now }: VariableUsesProps) => {
  const day = shown.at(-1)?.at.slice(0, 10);
  return (
    <section id="uses">
      <h2>First build of each day that used it</h2>
      {day === undefined ? (
        <p class="hint">No build has used it yet.</p>
      ) : (
        <>
          <ul class="plain">
            {shown.map(({ buildId, at }) => (
              <li>
                <a href={`/app/${names.get(buildId)?.kind === "job" ? "jobs" : "builds"}/${buildId}`}>
                  {names.get(buildId)?.name ?? "a build"}
                </a>{" "}
                <RelativeTime at={at} now={now} />
              </li>
            ))}
          </ul>
          <p class="hint">
            Later builds of a day are not listed: look at{" "}
            <a href={buildsSince(day, variable)}>all builds since {day}</a>. Days are those of UTC.
          </p>
          {known > shown.length && (
            <p>
              <a href="?uses=all#uses">Show all {known} days</a>
            </p>
          )}
        </>
      )}
    </section>
  );
};
