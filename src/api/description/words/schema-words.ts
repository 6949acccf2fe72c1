/** What a schema is, and what each of its fields is; a field of a field by its path, as `agents[].name`. */
export interface SchemaWords {
  is: string;
  /** Another schema whose words its fields share, where they have none of their own. */
  like?: string;
  fields?: Record<string, string>;
}
export type Words = Record<string, SchemaWords>;
