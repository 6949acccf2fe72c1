/**
 * What a schema `is`, and what each of its fields means; a nested field has a path, such as `agents[].name`. The words
 * of the schema that it is `like` describe the fields that have none here.
 */
export type Words = Record<string, { is: string; like?: string; [field: string]: string | undefined }>;
