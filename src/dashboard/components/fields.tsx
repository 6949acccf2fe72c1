import type { Child } from "hono/jsx";
import type { Asked } from "../page-definition.ts";
import { firstWrongField } from "./problem-notice.tsx";

interface FieldParts {
  asked: Asked;
  name: string;
  label: string;
  hint?: Child;
  /** What the record says, where the form has not been sent yet. */
  value?: string | number | null;
}

const errorsOf = ({ problem }: Asked, name: string): string[] =>
  (problem?.extras.errors ?? [])
    .filter(({ pointer }) => pointer === `/${name}` || pointer.startsWith(`/${name}/`))
    .map(({ detail }) => detail);

/** What stands in a field: what was sent, or what the record says. */
export const standing = ({ entered }: Asked, name: string, value: FieldParts["value"]): string =>
  entered ? (entered.get(name) ?? "") : String(value ?? "");

const Around = ({ asked, name, label, hint, children }: FieldParts & { children: Child }) => (
  <div class="field">
    <label for={name}>{label}</label>
    {children}
    {errorsOf(asked, name).map((detail) => (
      <p class="wrong">{detail}</p>
    ))}
    {hint && (
      <p class="hint" id={`${name}-hint`}>
        {hint}
      </p>
    )}
  </div>
);

const describedBy = ({ asked, name, hint }: FieldParts) => ({
  "aria-describedby": hint ? `${name}-hint` : undefined,
  "aria-invalid": errorsOf(asked, name).length > 0 ? ("true" as const) : undefined,
  autofocus: firstWrongField(asked) === name || undefined,
});

type TextParts = FieldParts & {
  type?: "text" | "number" | "url" | "datetime-local";
  required?: boolean;
  placeholder?: string;
  min?: number;
  max?: number;
};

export const TextField = (parts: TextParts) => {
  const { asked, name, value, type = "text", required, placeholder, min, max } = parts;
  const attributes = { id: name, name, type, required, placeholder, min, max, autocomplete: "off" };
  return (
    <Around {...parts}>
      <input {...attributes} {...describedBy(parts)} value={standing(asked, name, value)} spellcheck={false} />
    </Around>
  );
};

/** What is typed here is never sent back, not even after a mistake. */
export const SecretField = (parts: FieldParts & { required?: boolean; placeholder?: string; rows?: number }) => (
  <Around {...parts}>
    <textarea
      {...{ id: parts.name, name: parts.name, rows: parts.rows ?? 2, required: parts.required }}
      {...{ placeholder: parts.placeholder, autocomplete: "off", spellcheck: false, class: "secret" }}
      {...describedBy(parts)}
    ></textarea>
  </Around>
);

/** A browser drops the first line break of a textarea: one is put before the text for it to drop. */
export const AreaField = (
  parts: FieldParts & { rows?: number; placeholder?: string; wrap?: "off"; data?: Record<string, string> },
) => {
  const { asked, name, value, rows = 4, placeholder, wrap, data = {} } = parts;
  return (
    <Around {...parts}>
      <textarea {...{ id: name, name, rows, placeholder, wrap, spellcheck: false }} {...describedBy(parts)} {...data}>
        {`\n${standing(asked, name, value)}`}
      </textarea>
    </Around>
  );
};

export const CheckField = (parts: Omit<FieldParts, "value"> & { on: boolean }) => {
  const { asked, name, label, hint, on } = parts;
  const isOn = asked.entered ? asked.entered.get(name) === "on" : on;
  return (
    <div class="field check">
      <label>
        <input type="checkbox" name={name} checked={isOn} /> {label}
      </label>
      {errorsOf(asked, name).map((detail) => (
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

export const SelectField = (parts: FieldParts & { choices: Choice[] }) => {
  const { asked, name, value, choices } = parts;
  const chosen = standing(asked, name, value);
  const option = ({ value, label }: Choice) => (
    <option value={value} selected={value === chosen}>
      {label}
    </option>
  );
  const grouped = [...Map.groupBy(choices, ({ group }) => group)];
  return (
    <Around {...parts}>
      <select id={name} name={name} {...describedBy(parts)}>
        {grouped.map(([group, members]) =>
          group === undefined ? members.map(option) : <optgroup label={group}>{members.map(option)}</optgroup>,
        )}
      </select>
    </Around>
  );
};

/** The version a form was made from: sent back, so that nobody's change in between is lost. */
export const Version = ({ of }: { of: number | null }) =>
  of === null ? null : <input type="hidden" name="version" value={of} />;
