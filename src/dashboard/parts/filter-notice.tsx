import type { FieldError } from "../../services/core/refusal.ts";

/** What filters are called where the address calls them otherwise. */
const CALLED: Record<string, string> = {
  repoId: "repository",
  pipelineId: "pipeline",
  status: "state",
  commitSha: "commit",
  refName: "branch or tag",
  pull: "pull request",
  cursor: "place in the list",
  since: "first day",
  until: "last day",
};

const nameOf = (pointer: string): string => CALLED[pointer.slice(1)] ?? pointer.slice(1);

/** Says which filters of a list were not applied, and why. It never repeats a value: a link may have brought it. */
export const FilterNotice = ({ errors }: { errors: FieldError[] }) =>
  errors.length === 0 ? null : (
    <div class="problem" role="alert">
      <p>
        <strong>{errors.length === 1 ? "A filter was" : `${errors.length} filters were`} not applied.</strong>
      </p>
      <ul>
        {errors.map(({ pointer, detail }) => (
          <li>
            The {nameOf(pointer)} {detail}.
          </li>
        ))}
      </ul>
    </div>
  );
