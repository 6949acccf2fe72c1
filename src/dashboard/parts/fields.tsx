import { invalid } from "../../services/core/refusal.ts";
import type { Child } from "../shell/markup.ts";
import type { FormState } from "../shell/page-definition.ts";
import { firstWrongField } from "./form-page.tsx";

interface FieldProps {
  request: FormState;
  name: string;
  label: string;
  hint?: Child;
  /** The record's value, which the field shows until the person sends the form. */
  value?: string | number | null;
}

const fieldErrors = ({ problem }: FormState, name: string): string[] =>
  (problem?.extras.errors ?? [])
    .filter(({ pointer }) => pointer === `/${name}` || pointer.startsWith(`/${name}/`))
    .map(({ detail }) => detail);

const currentValue = ({ form }: FormState, name: string, value: FieldProps["value"]): string =>
  form ? (form.get(name) ?? "") : String(value ?? "");

const FieldErrors = ({ request, name }: Pick<FieldProps, "request" | "name">) =>
  fieldErrors(request, name).map((detail) => <p class="wrong">{detail}</p>);

const LabelledField = ({ request, name, label, hint, children }: FieldProps & { children: Child }) => (
  <div class="field">
    <label for={name}>{label}</label>
    {children}
    <FieldErrors request={request} name={name} />
    {hint && (
      <p class="hint" id={`${name}-hint`}>
        {hint}
      </p>
    )}
  </div>
);

const fieldState = ({ request, name, hint }: FieldProps) => ({
  "aria-describedby": hint ? `${name}-hint` : undefined,
  "aria-invalid": fieldErrors(request, name).length > 0 ? ("true" as const) : undefined,
  autofocus: firstWrongField(request) === name || undefined,
});

type TextFieldProps = FieldProps & {
  type?: "text" | "number" | "url" | "datetime-local";
  required?: boolean;
  placeholder?: string;
  min?: number;
  max?: number;
};

export const TextField = (props: TextFieldProps) => {
  const { request, name, value, type = "text", required, placeholder, min, max } = props;
  const attributes = { id: name, name, type, required, placeholder, min, max, autocomplete: "off" };
  return (
    <LabelledField {...props}>
      <input {...attributes} {...fieldState(props)} value={currentValue(request, name, value)} spellcheck={false} />
    </LabelledField>
  );
};

/** Shows a secret's field. The page never repeats its text, not even in a rejected form. */
export const SecretField = (props: FieldProps & { required?: boolean; placeholder?: string; rows?: number }) => (
  <LabelledField {...props}>
    <textarea
      id={props.name}
      name={props.name}
      rows={props.rows ?? 2}
      required={props.required}
      placeholder={props.placeholder}
      autocomplete="off"
      spellcheck={false}
      class="secret"
      {...fieldState(props)}
    ></textarea>
  </LabelledField>
);

/** Shows a text area. Browsers drop its first line break, so the text begins with an additional one. */
export const AreaField = (
  props: FieldProps & { rows?: number; placeholder?: string; isCode?: boolean; data?: Record<string, string> },
) => {
  const { request, name, value, rows = 4, placeholder, isCode, data = {} } = props;
  return (
    <LabelledField {...props}>
      <textarea
        id={name}
        name={name}
        rows={rows}
        placeholder={placeholder}
        class={isCode ? "code" : undefined}
        spellcheck={false}
        {...fieldState(props)}
        {...data}
      >
        {`\n${currentValue(request, name, value)}`}
      </textarea>
    </LabelledField>
  );
};

export const CheckField = (props: Omit<FieldProps, "value"> & { on: boolean }) => {
  const { request, name, label, hint, on } = props;
  const isOn = request.form ? request.form.get(name) === "on" : on;
  return (
    <div class="field check">
      <label>
        <input type="checkbox" name={name} checked={isOn} /> {label}
      </label>
      <FieldErrors request={request} name={name} />
      {hint && <p class="hint">{hint}</p>}
    </div>
  );
};

export interface Choice {
  value: string;
  label: string;
  group?: string;
}

export const SelectField = (props: FieldProps & { choices: Choice[] }) => {
  const { request, name, value, choices } = props;
  const chosen = currentValue(request, name, value);
  const option = ({ value, label }: Choice) => (
    <option value={value} selected={value === chosen}>
      {label}
    </option>
  );
  const grouped = [...Map.groupBy(choices, ({ group }) => group)];
  return (
    <LabelledField {...props}>
      <select id={name} name={name} {...fieldState(props)}>
        {grouped.map(([group, members]) =>
          group === undefined ? members.map(option) : <optgroup label={group}>{members.map(option)}</optgroup>,
        )}
      </select>
    </LabelledField>
  );
};

/**
 * Sends the version of the record that the form shows. The service rejects an older version, so that no change is lost.
 */
export const VersionField = ({ version }: { version: number | null }) =>
  version === null ? null : <input type="hidden" name="version" value={version} />;

/** Returns a field's text without surrounding spaces; null if it is empty. */
export const readText = (form: URLSearchParams, name: string): string | null => form.get(name)?.trim() || null;

/** Returns the text of a required field. Returns an empty text, too, because the schema rejects it. */
export const readRequiredText = (form: URLSearchParams, name: string): string => form.get(name)?.trim() ?? "";

/**
 * Returns a field's number. Returns null if the field is empty, and NaN if it is not a number, because the schema
 * rejects NaN.
 */
export const readNumber = (form: URLSearchParams, name: string): number | null => {
  const text = readText(form, name);
  return text === null ? null : Number(text);
};

export const readFlag = (form: URLSearchParams, name: string): boolean => form.get(name) === "on";

/** Returns a field's words, separated by commas, spaces or line breaks. */
export const readList = (form: URLSearchParams, name: string): string[] =>
  (form.get(name) ?? "").split(/[\s,]+/).filter(Boolean);

/** Returns a field's lines without surrounding spaces. Omits empty lines. */
export const readLines = (form: URLSearchParams, name: string): string[] =>
  (form.get(name) ?? "")
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** Reads lines of the form `NAME=value`. @throws Refusal with the number of a wrong line, never with its text */
export const readPairs = (form: URLSearchParams, field: string): [string, string][] =>
  (form.get(field) ?? "").split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    const at = line.indexOf("=");
    if (at > 0) return [[line.slice(0, at).trim(), line.slice(at + 1)] as [string, string]];
    throw invalid(`/${field}`, `line ${index + 1} must have the form NAME=value`);
  });
