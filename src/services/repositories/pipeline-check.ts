import { and, eq } from "drizzle-orm";
import { pipeline, repository } from "../../db/schema.ts";
import { nextRuns } from "../../domain/schedule.ts";
import { mistakeSentence } from "../../pipeline/mistake.ts";
import type { Includes } from "../../pipeline/parse/included-files.ts";
import { type KnownVariables, unknownVariables } from "../../pipeline/parse/known-variables.ts";
import { parseFile } from "../../pipeline/parse/parse.ts";
import { onProblems, type Triggers, triggerWords } from "../../pipeline/triggers/triggers.ts";
import { CheckedPipeline, PipelineCheck, type PipelineOn } from "../../protocol/pipeline.ts";
import type { Context } from "../core/context.ts";
import { type FieldError, invalid, invalidFields, Refusal } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";
import { type CheckSources, checkJobs, checkSize, toKnownFiles } from "../jobs/checked-jobs.ts";
import { groupsOfPipeline, variablesOfBuild } from "../variables/variable-scopes.ts";

/**
 * Checks an inline definition before the service stores it.
 * @throws Refusal invalid, with line and column of each mistake
 */
export const checkDefinition = (definition: string | null | undefined): void => {
  if (definition == null) return;
  const { mistakes = [] } = parseFile(definition);
  const errors: FieldError[] = mistakes.map((mistake) => ({
    pointer: "/definition",
    detail: `${mistake.line}:${mistake.column}: ${mistakeSentence(mistake)}`,
  }));
  if (errors.length > 0) throw new Refusal("invalid", "The definition is not valid: see errors.", { errors });
};

/** Checks an override of a file's `on`. @throws Refusal invalid, with the place of each mistake */
export const checkOn = (on: PipelineOn | null | undefined): void => {
  const problems = on ? onProblems(on) : [];
  const errors = problems.map(({ path, detail }): FieldError => ({ pointer: ["/on", ...path].join("/"), detail }));
  if (errors.length > 0) throw invalidFields(errors);
};

const NEXT_RUNS = 5;

const shownFile = ({ on, supersede, schedule }: Triggers, now: Date) => ({
  builds: triggerWords(on),
  supersede,
  schedules: schedule.map(({ name, cron, timeZone }) => ({
    name,
    next: nextRuns({ cron, timeZone }, now.getTime(), NEXT_RUNS).map((at) => new Date(at).toISOString()),
  })),
});

/** Reads the sources for a build of the pipeline, or of the repository's default pipeline. */
const knownTo = async (context: Context, repoId: string | null, pipelineId: string | null): Promise<CheckSources> => {
  const { sql: db } = context.db;
  const { orgId } = context;
  const [[ofPipeline], [ofRepository]] = await context.db.run(
    db
      .select()
      .from(pipeline)
      .where(and(eq(pipeline.orgId, orgId), eq(pipeline.id, pipelineId ?? ""))),
    db
      .select()
      .from(repository)
      .where(and(eq(repository.orgId, orgId), eq(repository.id, repoId ?? ""))),
  );
  if (pipelineId && (!ofPipeline || (repoId && ofPipeline.repoId !== repoId))) {
    throw invalid("/pipelineId", "is not a pipeline in this organization and repository");
  }
  if (repoId && !ofRepository) throw invalid("/repoId", "does not exist in this organization");
  const owner = ofPipeline?.repoId ?? ofRepository?.id ?? "";
  const ownPipelineId = ofPipeline?.id ?? ofRepository?.defaultPipelineId ?? null;
  const [rows, groups, [repositoryRow], [pipelineRow]] = await context.db.run(
    variablesOfBuild(db, orgId, owner, ownPipelineId),
    groupsOfPipeline(db, orgId, ownPipelineId),
    db
      .select()
      .from(repository)
      .where(and(eq(repository.orgId, orgId), eq(repository.id, owner))),
    db
      .select()
      .from(pipeline)
      .where(and(eq(pipeline.orgId, orgId), eq(pipeline.id, ownPipelineId ?? ""))),
  );
  const attached = groups.flatMap(({ id, name, protection }) =>
    id === null || name === null ? [] : [{ id, name, protection }],
  );
  return { repository: repositoryRow ?? null, pipeline: pipelineRow, rows, groups: attached };
};

/**
 * Returns the names of variables and secrets. A file variable counts as a plain variable, because its path is not
 * secret.
 */
const namesIn = ({ rows }: CheckSources): KnownVariables => {
  const secrets = new Set(rows.filter((row) => row.isSecret && row.fileEncoding === null).map((row) => row.key));
  return { secrets, vars: rows.map((row) => row.key).filter((key) => !secrets.has(key)) };
};

/**
 * Answers for files whose texts are not in the request. Without the texts of included files, a check covers only the
 * file itself.
 */
const NOT_READ: Includes = () => ({ unread: "This file's steps are not checked: send the file in `includes`" });

const NOT_PLANNED = { jobs: null, mistakes: [], hints: [] };

/**
 * Finds every mistake of a pipeline file without running the file. With a pipeline or repository, also finds unknown
 * variables.
 */
export const checkPipeline = verb({
  access: { role: "viewer" },
  body: PipelineCheck,
  output: CheckedPipeline,
  async run(context, { body }) {
    await context.admit();
    const { repoId = null, pipelineId = null } = body;
    const sources = repoId || pipelineId ? await knownTo(context, repoId ?? null, pipelineId ?? null) : null;
    const files = sources?.pipeline?.definition == null ? toKnownFiles(body.includes ?? [], NOT_READ) : undefined;
    checkSize(body.definition, body.includes);
    const { value: file, mistakes = [], hints = [] } = parseFile(body.definition, files?.find);
    const unknown = file && sources ? unknownVariables(file.plan, namesIn(sources)) : mistakes;
    const planned =
      file && unknown.length === 0
        ? await checkJobs(context, file.plan, { text: body.definition, files }, sources)
        : NOT_PLANNED;
    const all = [...unknown, ...planned.mistakes];
    return {
      isValid: all.length === 0,
      mistakes: all,
      hints: [...hints, ...planned.hints],
      triggers: file ? shownFile(file.triggers, context.now) : null,
      jobs: planned.jobs,
    };
  },
});
