import type { ArtifactOwner } from "../../archive/artifacts.ts";
import { inFolder, type PlacedFile, placeFiles } from "../../domain/artifact/file-list.ts";
import { ArtifactShare, PathArtifact, SharedArtifact } from "../../protocol/artifact.ts";
import { PERIODS } from "../../protocol/limits.ts";
import { HOUR_MS, MINUTE_MS } from "../../protocol/units.ts";
import { commit } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { type GrantFacts, openGrants } from "../core/grants.ts";
import { invalid, notFound } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";
import { readFiles } from "./artifact-records.ts";
import { makeZip, type Zip } from "./artifact-zip.ts";
import { findArtifact, type ReadableFile, readableFile } from "./artifacts.ts";

const VIEW_MS = PERIODS.viewMinutes * MINUTE_MS;

/** Returns the files at a path: the file with this name, or all files in the folder. */
const at = (list: readonly PlacedFile[], path: string | null): PlacedFile[] => {
  const file = list.filter((one) => one.path === path);
  return file.length > 0 ? file : inFolder(list, path);
};

/**
 * Creates an address. Anyone who has the address can see the artifact, for a limited time or until the artifact is
 * deleted.
 */
export const shareArtifact = verb({
  access: { role: "member" },
  params: PathArtifact,
  body: ArtifactShare,
  output: SharedArtifact,
  async run(context, { params, body }) {
    const place = await findArtifact(context, params.id, params.name);
    const path = body.path ?? null;
    if (at(placeFiles(await readFiles(context.archive, place.owner)), path).length === 0)
      throw invalid("/path", "is not a file or folder in this artifact");
    const until = context.now.getTime() + body.hours * HOUR_MS;
    const { name, bytes, at: made } = place.artifact;
    const token = await context.keys.grants.grant("share", { ...place.owner, bytes, name, path, made, until });
    const expiresAt = new Date(until).toISOString();
    const detail = { name, artifactId: place.owner.id, path, expiresAt };
    await commit(context, { action: "artifact.share", subject: place.owner.jobId, detail }, []);
    return { url: `${context.origin}/share/${token}`, expiresAt };
  },
});

/**
 * Returns the address of an artifact's page for one person's browser; null if the deployment has no origin for such
 * pages.
 */
export const viewAddress = async (context: Context, jobId: string, name: string): Promise<string | null> => {
  const { ARTIFACT_ORIGIN: origin } = context.config;
  if (origin === "") return null;
  const place = await findArtifact(context, jobId, name);
  const { actor } = await context.admit();
  const until = context.now.getTime() + VIEW_MS;
  const facts = { ...place.owner, bytes: place.artifact.bytes, name, actor, until };
  return `${origin}/view/${await context.keys.grants.grant("view", facts)}/`;
};

/** The content that an address shows to a browser without any other token. */
interface Opened {
  list: PlacedFile[];
  facts: GrantFacts["share" | "view"];
  owner: ArtifactOwner;
}

/**
 * Opens the artifact of an address. A forged address does not query the archive.
 * @throws Refusal not-found, which is the same for a forged and an expired address, or gone if the artifact is deleted
 */
export const openAddress = async (env: Env, granted: "share" | "view", token: string, now: number): Promise<Opened> => {
  const facts = await openGrants(env).read(granted, token);
  if (!facts || now >= facts.until) throw notFound();
  const { day, orgId, jobId, fence, id } = facts;
  const owner = { day, orgId, jobId, fence, id };
  const list = placeFiles(await readFiles(env.ARCHIVE, owner));
  return { list: at(list, facts.path ?? null), facts, owner };
};

/**
 * Returns one file behind an address, by its path in the artifact; undefined if the address does not show that file.
 */
export const fileAt = (env: Env, { list, owner }: Opened, path: string): ReadableFile | undefined => {
  const file = list.find((one) => one.path === path);
  return file && readableFile(env.ARCHIVE, owner, file);
};

/** Returns the whole content of a shared address: its only file, or all its files as an archive. */
export const sharedWhole = (env: Env, { list, facts, owner }: Opened): ReadableFile | Zip => {
  const [only] = list;
  if (list.length === 1 && only && only.path === facts.path) return readableFile(env.ARCHIVE, owner, only);
  return makeZip(env.ARCHIVE, owner, list, facts.made ?? 0);
};
