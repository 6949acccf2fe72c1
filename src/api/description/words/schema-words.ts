/** The descriptions of a schema and of its fields. A nested field has a path, such as `agents[].name`. */
interface SchemaWords {
  is: string;
  /** Another schema: its words describe the fields that have none here. */
  like?: string;
  fields?: Record<string, string>;
}
export type Words = Record<string, SchemaWords>;
