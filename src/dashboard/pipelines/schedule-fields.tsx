import type { Schedule } from "../../protocol/schedule.ts";
import { CheckField, SecretField, TextField } from "../parts/fields.tsx";
import { readFlag, readPairs, readRequiredText, readText } from "../shell/form-fields.ts";
import type { FormState } from "../shell/page-definition.ts";

const ValuesHint = ({ keys }: { keys: string[] }) => (
  <>
    One NAME=value per line. They are stored sealed.{" "}
    {keys.length > 0 && (
      <>
        Now: <code>{keys.join(", ")}</code>. Leave it empty to keep them.
      </>
    )}
  </>
);

/** The fields of a schedule that is not in a file. */
export const ScheduleFields = ({ request, schedule }: { request: FormState; schedule?: Schedule }) => (
  <>
    <TextField request={request} name="name" label="Name" value={schedule?.name} required placeholder="nightly" />
    <TextField
      request={request}
      name="cron"
      label="Times"
      value={schedule?.cron}
      required
      placeholder="0 2 * * MON-FRI"
      hint={
        <>
          Minute, hour, day of the month, month, day of the week: <code>0 2 * * *</code> is each night at two,{" "}
          <code>*/30 * * * *</code> each half hour.
        </>
      }
    />
    <TextField
      request={request}
      name="timeZone"
      label="Time zone"
      value={schedule?.timeZone ?? "UTC"}
      required
      hint="As Europe/Berlin."
    />
    <TextField
      request={request}
      name="ref"
      label="Branch or tag"
      value={schedule?.ref?.replace(/^refs\/heads\//, "")}
      hint="Leave it empty for the default branch."
    />
    <SecretField
      request={request}
      name="envVariables"
      label="Variables of its builds"
      placeholder="NAME=value"
      hint={<ValuesHint keys={schedule?.envKeys ?? []} />}
    />
    {schedule && schedule.envKeys.length > 0 && (
      <CheckField request={request} name="forgetsVariables" label="Forget its variables" on={false} />
    )}
    <CheckField request={request} name="isActive" label="On: its builds are made" on={schedule?.isActive ?? true} />
  </>
);

/** Undefined keeps the variables that are stored. */
const valuesOf = (form: URLSearchParams): Record<string, string> | undefined => {
  if (readFlag(form, "forgetsVariables")) return {};
  const pairs = readPairs(form, "envVariables");
  return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
};

export const readSchedule = (form: URLSearchParams) => ({
  name: readRequiredText(form, "name"),
  cron: readRequiredText(form, "cron"),
  timeZone: readRequiredText(form, "timeZone"),
  ref: readText(form, "ref"),
  envVariables: valuesOf(form),
  isActive: readFlag(form, "isActive"),
});
