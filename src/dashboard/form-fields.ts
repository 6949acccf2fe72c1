/** A form's field as text; what is empty counts as not given. */
export const readText = (form: URLSearchParams, name: string): string | null => form.get(name)?.trim() || null;

/** A field that holds a whole number; anything else is left to the schema to refuse. */
export const readNumber = (form: URLSearchParams, name: string): number | null => {
  const text = readText(form, name);
  return text === null ? null : Number(text);
};

export const readFlag = (form: URLSearchParams, name: string): boolean => form.get(name) === "on";

/** Words with commas, spaces or lines between them. */
export const readList = (form: URLSearchParams, name: string): string[] =>
  (form.get(name) ?? "").split(/[\s,]+/).filter(Boolean);
