import { invalid } from "../../services/core/refusal.ts";

/** A field's text without surrounding spaces; null when it is empty. */
export const readText = (form: URLSearchParams, name: string): string | null => form.get(name)?.trim() || null;

/** A field's text where the verb requires one: empty when nothing was entered, for the schema to refuse. */
export const readRequiredText = (form: URLSearchParams, name: string): string => form.get(name)?.trim() ?? "";

/** A number field; null when it is empty, NaN when it holds no number, for the schema to refuse. */
export const readNumber = (form: URLSearchParams, name: string): number | null => {
  const text = readText(form, name);
  return text === null ? null : Number(text);
};

export const readFlag = (form: URLSearchParams, name: string): boolean => form.get(name) === "on";

/** Words separated by commas, spaces or line breaks. */
export const readList = (form: URLSearchParams, name: string): string[] =>
  (form.get(name) ?? "").split(/[\s,]+/).filter(Boolean);

/** The lines of a field without surrounding spaces; empty ones do not count. */
export const readLines = (form: URLSearchParams, name: string): string[] =>
  (form.get(name) ?? "")
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** Reads `NAME=value` lines. @throws Refusal with the number of a wrong line, never with its text */
export const readPairs = (form: URLSearchParams, field: string): [string, string][] =>
  (form.get(field) ?? "").split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    const at = line.indexOf("=");
    if (at > 0) return [[line.slice(0, at).trim(), line.slice(at + 1)] as [string, string]];
    throw invalid(`/${field}`, `line ${index + 1} does not have the form NAME=value`);
  });
