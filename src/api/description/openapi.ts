import type { JsonSchema } from "./schemas.ts";

/* As much of OpenAPI 3.1 as the description uses. */

export type Reference = { $ref: string };

export interface Media {
  schema: JsonSchema;
  examples?: Record<string, { summary: string; value: unknown }>;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description?: string;
  schema: JsonSchema;
}

export interface Response {
  description: string;
  headers?: Record<string, Reference>;
  content?: Record<string, Media>;
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security: Record<string, string[]>[];
  parameters?: (Parameter | Reference)[];
  requestBody?: { required: boolean; content: Record<string, Media> };
  responses: Record<string, Response | Reference>;
}

export interface ApiDescription {
  openapi: "3.1.0";
  info: object;
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  security: Record<string, string[]>[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    securitySchemes: Record<string, object>;
    parameters: Record<string, Parameter>;
    headers: Record<string, object>;
    responses: Record<string, Response>;
    schemas: Record<string, JsonSchema>;
  };
}
