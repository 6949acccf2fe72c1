import { PROBLEMS } from "../../protocol/problem.ts";
import type { Refusal } from "../../services/refusal.ts";

/** What happened and what was not changed; each field at fault by name. */
export const ProblemNotice = ({ problem }: { problem: Refusal | null }) => {
  if (!problem) return null;
  const { errors } = problem.extras;
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{PROBLEMS[problem.kind][1]}.</strong> {errors ? "Nothing was changed." : problem.message}
      </p>
      {errors && (
        <ul>
          {errors.map(({ pointer, detail }) => (
            <li>
              {pointer && <code>{pointer.slice(1)}</code>} {detail}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
};
