import type { Child } from "hono/jsx";
import type { PageRequest } from "../page-definition.ts";
import { firstWrongField } from "./problem-notice.tsx";

interface FieldProps {
  request: PageRequest;
  name: string;
  label: string;
  hint?: Child;
  /** What the record says, where the form has not been sent yet. */
  value?: string | number | null;
}

const errorsOf = ({ problem }: PageRequest, name: string): string[] =>
  (problem?.extras.errors ?? [])
    .filter(({ pointer }) => pointer === `/${name}` || pointer.startsWith(`/${name}/`))
    .map(({ detail }) => detail);

/** What stands in a field: what was sent, or what the record says. */
export const currentValue = ({ form }: PageRequest, name: string, value: FieldProps["value"]): string =>
  form ? (form.get(name) ?? "") : String(value ?? "");

const LabelledField = ({ request, name, label, hint, children }: FieldProps & { children: Child }) => (
  <div class="field">
    <label for={name}>{label}</label>
    {children}
    {errorsOf(request, name).map((detail) => (
      <p class="wrong">{detail}</p>
    ))}
    {hint && (
      <p class="hint" id={`${name}-hint`}>
        {hint}
      </p>
    )}
  </div>
);

const describedBy = ({ request, name, hint }: FieldProps) => ({
  "aria-describedby": hint ? `${name}-hint` : undefined,
  "aria-invalid": errorsOf(request, name).length > 0 ? ("true" as const) : undefined,
  autofocus: firstWrongField(request) === name || undefined,
});

type TextFieldProps = FieldProps & {
  type?: "text" | "number" | "url" | "datetime-local";
  required?: boolean;
  placeholder?: string;
  min?: number;
  max?: number;
};

export const TextField = (parts: TextFieldProps) => {
  const { request, name, value, type = "text", required, placeholder, min, max } = parts;
  const attributes = { id: name, name, type, required, placeholder, min, max, autocomplete: "off" };
  return (
    <LabelledField {...parts}>
      <input {...attributes} {...describedBy(parts)} value={currentValue(request, name, value)} spellcheck={false} />
    </LabelledField>
  );
};

/** What is typed here is never sent back, not even after a mistake. */
export const SecretField = (parts: FieldProps & { required?: boolean; placeholder?: string; rows?: number }) => (
  <LabelledField {...parts}>
    <textarea
      id={parts.name}
      name={parts.name}
      rows={parts.rows ?? 2}
      required={parts.required}
      placeholder={parts.placeholder}
      autocomplete="off"
      spellcheck={false}
      class="secret"
      {...describedBy(parts)}
    ></textarea>
  </LabelledField>
);

/** A browser drops the first line break of a textarea: one is put before the text for it to drop. */
export const AreaField = (
  parts: FieldProps & { rows?: number; placeholder?: string; wrap?: "off"; data?: Record<string, string> },
) => {
  const { request, name, value, rows = 4, placeholder, wrap, data = {} } = parts;
  return (
    <LabelledField {...parts}>
      <textarea
        id={name}
        name={name}
        rows={rows}
        placeholder={placeholder}
        wrap={wrap}
        spellcheck={false}
        {...describedBy(parts)}
        {...data}
      >
        {`\n${currentValue(request, name, value)}`}
      </textarea>
    </LabelledField>
  );
};

export const CheckField = (parts: Omit<FieldProps, "value"> & { on: boolean }) => {
  const { request, name, label, hint, on } = parts;
  const isOn = request.form ? request.form.get(name) === "on" : on;
  return (
    <div class="field check">
      <label>
        <input type="checkbox" name={name} checked={isOn} /> {label}
      </label>
      {errorsOf(request, name).map((detail) => (
        <p class="wrong">{detail}</p>
      ))}
      {hint && <p class="hint">{hint}</p>}
    </div>
  );
};

export interface Choice {
  value: string;
  label: string;
  group?: string;
}

export const SelectField = (parts: FieldProps & { choices: Choice[] }) => {
  const { request, name, value, choices } = parts;
  const chosen = currentValue(request, name, value);
  const option = ({ value, label }: Choice) => (
    <option value={value} selected={value === chosen}>
      {label}
    </option>
  );
  const grouped = [...Map.groupBy(choices, ({ group }) => group)];
  return (
    <LabelledField {...parts}>
      <select id={name} name={name} {...describedBy(parts)}>
        {grouped.map(([group, members]) =>
          group === undefined ? members.map(option) : <optgroup label={group}>{members.map(option)}</optgroup>,
        )}
      </select>
    </LabelledField>
  );
};

/** The version a form was made from: sent back, so that nobody's change in between is lost. */
export const VersionField = ({ of }: { of: number | null }) =>
  of === null ? null : <input type="hidden" name="version" value={of} />;
