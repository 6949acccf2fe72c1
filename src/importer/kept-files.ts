import { withoutEnd } from "../domain/text.ts";
import { type KeepingKey, keepingKey } from "./actions.ts";
import { translateText } from "./expression.ts";
import { DEFAULT_NAME, KeptInputs, OF_BUILD, OF_COMBINATION, shortName } from "./kept-inputs.ts";
import { NoEqual } from "./marks.ts";
import { findName, type Names, withVariables } from "./names.ts";
import { OutList, OutMap } from "./out.ts";
import { find, pairsOf, type Source, tokenText } from "./source.ts";
import type { ReadStep } from "./step.ts";
import { fits, inputText, type UploadedArtifact } from "./uploaded-artifacts.ts";
import { translateUploadedPaths } from "./uploaded-paths.ts";

/* Actions that keep files, or fetch them again. Each becomes an entry in one of the job's keys. */

export interface KeepingPlace {
  names: Names;
  source: Source;
  /** The artifacts that jobs of the file keep. */
  artifacts: readonly UploadedArtifact[];
}

/** Creates the entry that equals the step. @throws {NoEqual} for a step without an equivalent */
const makeEntry = (step: ReadStep, nth: number, place: KeepingPlace): OutMap =>
  ENTRIES[keepingKey(step.action)](new KeptInputs(step, place.source), step, nth, place);

const IF_NONE = new Map([
  ["error", undefined],
  ["ignore", "ignore"],
]);

const AFTER = new Map([
  ["", undefined],
  ["success()", undefined],
  ["failure()", "failure"],
  ["always()", "always"],
  ["!cancelled()", "always"],
  ["success() || failure()", "always"],
]);

/** Returns the result of the steps after which the files are kept. */
const readWhen = ({ token }: ReadStep, source: Source, kind: "artifact" | "cache" = "artifact"): string | undefined => {
  const condition = find(token, "if");
  const text = condition ? tokenText(condition, source).replace(/^\$\{\{|\}\}$/g, "") : "";
  if (!AFTER.has(text.trim())) throw new NoEqual(`\`if: ${text.trim()}\``, kind);
  return AFTER.get(text.trim());
};

const alwaysRuns = ({ token }: ReadStep, kind: "artifact" | "cache"): void => {
  if (find(token, "if")) throw new NoEqual("a condition", kind);
};

type MakeEntry = (inputs: KeptInputs, step: ReadStep, nth: number, place: KeepingPlace) => OutMap;

const artifact: MakeEntry = (inputs, step, _, { names, source, artifacts }) => {
  const nameText = withVariables(inputs.text("name") ?? DEFAULT_NAME, names);
  const name = shortName(nameText, OF_BUILD, OF_COMBINATION);
  if (name.includes("${{")) throw new NoEqual(`\`name: ${nameText}\`, which is computed`, "artifact");
  const paths = inputs.paths();
  const days = Number(inputs.fixed("retention-days") ?? 0);
  const ifNone = inputs.fixed("if-no-files-found") ?? "warn";
  // Here a download of a missing artifact does not fail, so its upload does.
  const left = inputText(step, "name", source) || DEFAULT_NAME;
  const isAwaited = artifacts.some(
    ({ job, written: one, fetchedBy }) => job === names.job && one === left && fetchedBy === "name",
  );
  const keepsHidden = inputs.fixed("include-hidden-files") === "true";
  inputs.pass("compression-level", "overwrite");
  inputs.end();
  const written = translateUploadedPaths(paths, keepsHidden);
  return new OutMap()
    .set("name", name)
    .set("path", written.length === 1 ? written[0] : written)
    .set("keep-days", days > 0 ? days : undefined)
    .set("if-none", isAwaited ? undefined : IF_NONE.has(ifNone) ? IF_NONE.get(ifNone) : "warn")
    .set("when", readWhen(step, source));
};

const download: MakeEntry = (inputs, step, _, { artifacts }) => {
  alwaysRuns(step, "artifact");
  const written = inputs.text("name") ?? "";
  const name = shortName(written, OF_BUILD);
  if (name.includes("${{")) throw new NoEqual(`\`name: ${written}\`, which is computed`, "artifact");
  const [to = "."] = inputs.paths();
  inputs.end();
  const leaving = artifacts.filter((one) => shortName(one.written, OF_BUILD) === name).map(({ job }) => job);
  const [from, ...others] = new Set(leaving);
  if (from === undefined) throw new NoEqual(`${name}, which no job of this file uploads under this name`, "artifact");
  if (others.length > 0) throw new NoEqual(`${name}, which several jobs upload`, "artifact");
  return new OutMap()
    .set("from", from)
    .set("artifact", name)
    .set("to", withoutEnd(to, "/") || ".");
};

/** Returns downloads of all earlier artifacts, or of a pattern. Each has a folder with its name, unless merged. */
const severalDownloads = (step: ReadStep, { names, source, artifacts }: KeepingPlace) => {
  alwaysRuns(step, "artifact");
  const inputs = new KeptInputs(step, source);
  const pattern = inputs.fixed("pattern") ?? "*";
  if (!/^[\w.*-]+$/.test(pattern)) throw new NoEqual(`\`pattern: ${pattern}\``, "artifact");
  const isMerged = inputs.fixed("merge-multiple") === "true";
  const to = withoutEnd(inputs.paths()[0] ?? ".", "/");
  inputs.end();
  const chosen = artifacts.filter(({ written }) => fits(pattern, written));
  if (chosen.length === 0) throw new NoEqual("artifacts that no job of this file uploads", "artifact");
  let isNamedOtherwise = false;
  const entries = chosen.map(({ job, written }) => {
    const needed = names.needs.find(({ key }) => key === job);
    // GitHub also fetches what another job has left by then, possibly nothing.
    if (!needed) throw new NoEqual(`all artifacts at once, some of which ${job} may upload`, "artifact");
    const name = shortName(withVariables(written, names), OF_BUILD, OF_COMBINATION);
    if (name.includes("${{")) throw new NoEqual(`${written}, whose name is computed`, "artifact");
    isNamedOtherwise ||= needed.hasMatrix || (!isMerged && name !== written);
    const folder = to === "." || to === "" ? name : `${to}/${name}`;
    return new OutMap()
      .set("from", job)
      .set("artifact", name)
      .set("to", isMerged ? to || "." : folder);
  });
  return { entries, isNamedOtherwise };
};

const HASHES = /\$\{\{\s*hashFiles\(([^()]*)\)\s*\}\}/g;

/** The system. Every key here includes it. */
const SYSTEM = /\$\{\{\s*runner\.(?:os|arch)\s*\}\}[-_]?/gi;

/** Returns a variable that nothing sets before the first step. On GitHub a step may set it before the key is read. */
const variableIn = (text: string, { env }: Names): string | undefined =>
  [...text.matchAll(/\benv\.([A-Za-z_]\w*)/g)]
    .map(([, name = ""]) => name)
    .find((name) => findName(env, name, (one) => one) === undefined);

/** Returns a key without its hashes of files, and these files. Here the entry lists them separately. */
const keyWithoutFiles = (text: string): { key: string; files: string[] } => {
  const files = [...text.matchAll(HASHES)].flatMap(([, list = ""]) =>
    [...list.matchAll(/'((?:[^']|'')*)'/g)].map(([, one = ""]) => one.replaceAll("''", "'").replace(/^\.\//, "")),
  );
  const key = text.replaceAll(HASHES, "").replaceAll("--", "-");
  const short = withoutEnd(key, "-");
  if (short === key) return { key, files };
  return { key: key === text && short === "" ? "" : `${short}-`, files };
};

/** Rejects `fail-on-cache-miss`. On GitHub a miss can fail a step; here it never does. */
const needsIt = (inputs: KeptInputs): void => {
  if (inputs.fixed("fail-on-cache-miss") === "true")
    throw new NoEqual("`fail-on-cache-miss: true`", "cache-handed-over");
};

/** Returns the names with the step's own variables, which do not change. */
const withOwn = (names: Names, { token }: ReadStep, source: Source): Names => {
  const own = pairsOf(find(token, "env")).map(({ key, value }) => [key, tokenText(value, source)] as const);
  return { ...names, texts: new Map([...(names.texts ?? []), ...own.filter(([, text]) => !text.includes("${{"))]) };
};

const cache: MakeEntry = (inputs, step, nth, { names, source }) => {
  needsIt(inputs);
  alwaysRuns(step, "cache");
  if (inputs.fixed("lookup-only") === "true") throw new NoEqual("`lookup-only: true`", "cache");
  const known = withOwn(names, step, source);
  const written = [inputs.text("key") ?? "", ...inputs.lines("restore-keys")].map((text) => withVariables(text, known));
  const unknown = variableIn(written.join("\n"), names);
  if (unknown !== undefined) throw new NoEqual(`\`env.${unknown}\` in its key (a step may set it)`, "cache");
  const shortened = written.map((text) => text.replaceAll(SYSTEM, ""));
  const read = (shortened.includes("") ? written : shortened).map(keyWithoutFiles);
  const [{ key, files } = { key: "", files: [] }, ...others] = read;
  const fallback = [...new Set(others.map((one) => translateText(one.key, names)))];
  const paths = inputs.paths();
  for (const one of ["enablecrossosarchive", "upload-chunk-size"]) inputs.fixed(one);
  inputs.end();
  const isRead = step.action.toLowerCase().endsWith("/restore");
  return new OutMap()
    .set("name", step.id ?? (nth === 0 ? "cache" : `cache-${nth + 1}`))
    .set("path", paths.length === 1 ? paths[0] : paths)
    .set("files", files.length === 0 ? undefined : files.length === 1 ? files[0] : files)
    .set("key", key === "" ? undefined : translateText(key, names))
    .set("fallback", fallback.length > 0 ? fallback : undefined)
    .set("save", isRead ? "never" : undefined);
};

/** Returns a key for a cache, equal for another step of the same job with this cache. */
const cacheOf = (step: ReadStep, source: Source): string =>
  `${inputText(step, "path", source)}\n${inputText(step, "key", source)}`;

/** Returns the id of the step whose key is saved. */
const restoringStep = (step: ReadStep, source: Source): string | undefined =>
  /^\$\{\{\s*steps\.([\w-]+)\.outputs\.cache-primary-key\s*\}\}$/.exec(inputText(step, "key", source))?.[1];

const ENTRIES: Record<KeepingKey, MakeEntry> = { artifacts: artifact, downloads: download, cache };

/** A job's entries, by the key that has them. */
export class KeptFiles {
  readonly #lists = new Map<KeepingKey, OutList>();
  /** The translations of `actions/cache/restore`, by the cache and by the step's id. */
  readonly #restored = new Map<string, OutMap>();
  readonly #names = new Set<string>();

  add(step: ReadStep, unit: string, place: KeepingPlace): void {
    if (/^actions\/cache\/save$/i.test(step.action)) this.#save(step, place);
    else if (keepingKey(step.action) === "downloads" && inputText(step, "name", place.source) === "")
      this.#downloadSeveral(step, unit, place);
    else this.#addEntry(step, unit, place);
  }

  /** Adds several downloads. If a folder differs from GitHub's, a person has to check what reads it. */
  #downloadSeveral(step: ReadStep, unit: string, place: KeepingPlace): void {
    const { entries, isNamedOtherwise } = severalDownloads(step, place);
    for (const entry of entries) this.#listOf("downloads").add(entry, unit);
    if (isNamedOtherwise) throw new NoEqual("several artifacts", "artifact-folders");
  }

  /** Saves a cache that the job has restored: restoring and saving share one entry. */
  #save(step: ReadStep, { source }: KeepingPlace): void {
    const entry = this.#restored.get(cacheOf(step, source)) ?? this.#restored.get(restoringStep(step, source) ?? "");
    if (!entry) throw new NoEqual("a key that this job has not restored", "cache-handed-over");
    const when = readWhen(step, source, "cache");
    if (when === "failure") throw new NoEqual("`if: failure()`", "cache");
    const index = entry.items.findIndex((item) => "key" in item && item.key === "save");
    if (index >= 0) entry.items.splice(index, 1);
    entry.set("save", when);
  }

  #addEntry(step: ReadStep, unit: string, place: KeepingPlace): void {
    const key = keepingKey(step.action);
    const entry = makeEntry(step, this.#lists.get(key)?.items.length ?? 0, place);
    this.#listOf(key).add(entry, unit);
    if (!/^actions\/cache\/restore$/i.test(step.action)) return;
    this.#restored.set(cacheOf(step, place.source), entry);
    if (step.id !== null) this.#restored.set(step.id, entry);
  }

  /** Adds an entry, unless the job already has one with this name. */
  addOnce(key: KeepingKey, name: string, entry: OutMap, unit: string): void {
    if (this.#names.has(name)) return;
    this.#names.add(name);
    this.#listOf(key).add(entry, unit);
  }

  #listOf(key: KeepingKey): OutList {
    const list = this.#lists.get(key) ?? new OutList();
    this.#lists.set(key, list);
    return list;
  }

  writeTo(job: OutMap): void {
    for (const key of ["downloads", "cache", "artifacts"] as const) job.set(key, this.#lists.get(key));
  }
}
