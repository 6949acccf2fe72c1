import type { FieldError } from "../../services/core/refusal.ts";

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
            <code>{pointer.slice(1)}</code> {detail}
          </li>
        ))}
      </ul>
    </div>
  );
