import { type Includes, KnownFiles, type ToInclude } from "../../pipeline/parse/included-files.ts";
import type { Mistake } from "../../pipeline/yaml/mistake.ts";
import { byteSize, LIMITS } from "../../protocol/limits.ts";
import type { IncludedFiles } from "../../protocol/pipeline.ts";
import { type FieldError, invalidFields, Refusal } from "../core/refusal.ts";

type Sent = readonly { path: string; text: string }[];

/** Refuses more text than one file may have with all that it includes. @throws Refusal too-large */
export const checkSize = (text: string, sent: typeof IncludedFiles._zod.output = []): void => {
  const characters = sent.reduce((sum, file) => sum + file.text.length, text.length);
  if (characters > LIMITS.definitionCharacters)
    throw new Refusal(
      "too-large",
      `A pipeline file has at most ${byteSize(LIMITS.definitionCharacters)}, with all that it includes.`,
    );
};

/** The files that came with a pipeline file. */
export const filesOf = (sent: Sent, otherwise: Includes): KnownFiles =>
  new KnownFiles(new Map(sent.map(({ path, text }): [string, ToInclude] => [path, { text }])), otherwise);

/** @throws Refusal invalid for each file that was sent and that nothing includes */
export const refuseUnused = (sent: Sent, { used }: KnownFiles): void => {
  const paths = new Set(used.map(({ path }) => path));
  const errors = sent.flatMap(({ path }, index): FieldError[] =>
    paths.has(path) ? [] : [{ pointer: `/includes/${index}/path`, detail: "is not included by the file" }],
  );
  if (errors.length > 0) throw invalidFields(errors);
};

/** Where in a request the file of a mistake is. */
export const pointerTo = ({ file }: Mistake, sent: Sent): string => {
  const index = sent.findIndex(({ path }) => path === file);
  return index < 0 ? "/text" : `/includes/${index}/text`;
};
