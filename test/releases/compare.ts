import type {
  ApiDescription,
  JsonSchema,
  Operation,
  Parameter,
  Reference,
  Response,
} from "../../src/api/description/schemas.ts";
import { type Side, within } from "./within.ts";

type Released = Pick<ApiDescription, "paths" | "components">;

/** Resolves references in a description. */
const resolver =
  ({ components }: Released) =>
  <T extends object>(value: T | Reference): T => {
    if (!("$ref" in value)) return value;
    const [, , kind = "", name = ""] = (value.$ref as string).split("/");
    return (components as unknown as Record<string, Record<string, T>>)[kind]?.[name] as T;
  };

class Comparison {
  readonly found: string[] = [];
  readonly #before: ReturnType<typeof resolver>;
  readonly #after: ReturnType<typeof resolver>;

  constructor(before: Released, after: Released) {
    this.#before = resolver(before);
    this.#after = resolver(after);
    for (const [path, methods] of Object.entries(before.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const place = `${method.toUpperCase()} ${path}`;
        const now = after.paths[path]?.[method];
        if (now) this.#operation(place, operation, now);
        else this.found.push(`${place}: is gone`);
      }
    }
  }

  #operation(place: string, before: Operation, after: Operation): void {
    if (before.operationId !== after.operationId) this.found.push(`${place}: has another operationId`);
    const kinds = before.security.flatMap((one) => Object.keys(one));
    for (const kind of kinds) {
      if (!after.security.some((one) => kind in one)) this.found.push(`${place}: no longer takes ${kind}`);
    }
    this.#parameters(place, before, after);
    this.#body(place, before, after);
    for (const [status, response] of Object.entries(before.responses)) {
      const now = after.responses[status];
      if (now) this.#response(`${place} ${status}`, this.#before(response), this.#after(now));
      else this.found.push(`${place} ${status}: is gone`);
    }
    for (const status of Object.keys(after.responses)) {
      if (Number(status) < 400 && !before.responses[status]) this.found.push(`${place} ${status}: is a new success`);
    }
  }

  #parameters(place: string, before: Operation, after: Operation): void {
    const key = ({ in: where, name }: Parameter) => `${where} ${name}`;
    const earlier = new Map((before.parameters ?? []).map(this.#before).map((one) => [key(one), one]));
    const later = new Map((after.parameters ?? []).map(this.#after).map((one) => [key(one), one]));
    for (const [name, one] of earlier) {
      const now = later.get(name);
      if (now) this.#sent(`${place} ${name}`, one.schema, now.schema);
      else this.found.push(`${place} ${name}: is gone`);
    }
    for (const [name, { required }] of later) {
      if (required && !earlier.get(name)?.required) this.found.push(`${place} ${name}: is newly required`);
    }
  }

  #body(place: string, before: Operation, after: Operation): void {
    if (!before.requestBody && after.requestBody?.required) this.found.push(`${place} body: is newly required`);
    for (const [type, { schema }] of Object.entries(before.requestBody?.content ?? {})) {
      const now = after.requestBody?.content[type];
      if (now) this.#sent(`${place} body`, schema, now.schema);
      else this.found.push(`${place} body: ${type} is no longer taken`);
    }
  }

  #response(place: string, before: Response, after: Response): void {
    for (const name of Object.keys(before.headers ?? {})) {
      if (!after.headers?.[name]) this.found.push(`${place}: the header ${name} is gone`);
    }
    for (const [type, { schema }] of Object.entries(before.content ?? {})) {
      const now = after.content?.[type];
      if (now) this.#answered(place, schema, now.schema);
      else this.found.push(`${place}: ${type} is gone`);
    }
  }

  /** The service must still accept everything that it accepted before. */
  #sent(place: string, before: JsonSchema, after: JsonSchema): void {
    const narrow: Side = { schema: before, resolve: this.#before };
    const wide: Side = { schema: after, resolve: this.#after };
    this.found.push(...within(narrow, wide, "sent").map((what) => place + what));
  }

  /** Answers must match the earlier description, except for new fields. */
  #answered(place: string, before: JsonSchema, after: JsonSchema): void {
    const narrow: Side = { schema: after, resolve: this.#after };
    const wide: Side = { schema: before, resolve: this.#before };
    this.found.push(...within(narrow, wide, "answered").map((what) => place + what));
  }
}

/** Returns the changes that break a client of the earlier API, each with its place. */
export const breakingChanges = (before: Released, after: Released): string[] => [
  ...new Set(new Comparison(before, after).found),
];
