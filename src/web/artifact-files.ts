import * as z from "zod/mini";
import { FilePath, PathArtifact } from "../protocol/artifact.ts";
import { zipOfArtifact } from "../services/uploads/artifact-zip.ts";
import { findArtifact, openFile } from "../services/uploads/artifacts.ts";
import type { StreamRoute } from "./app-env.ts";
import { bytesAnswer, INERT_FILE, saveAs, zipAnswer } from "./artifact-bytes.ts";

const PathFile = z.extend(PathArtifact, { path: FilePath });

export const downloadFile: StreamRoute = {
  access: { role: "viewer" },
  params: PathFile,
  async stream(c, context, { params }) {
    const file = await openFile(context, params.id, params.name, params.path);
    const headers = { ...INERT_FILE, ETag: `"${file.sha256}"`, "Content-Disposition": saveAs(file.name) };
    return bytesAnswer(c, file, headers);
  },
};

const ZipQuery = z.strictObject({ folder: z.optional(z.string()) });

export const downloadZip: StreamRoute = {
  access: { role: "viewer" },
  params: PathArtifact,
  query: ZipQuery,
  async stream(c, context, { params, query }) {
    const place = await findArtifact(context, params.id, params.name);
    const zip = await zipOfArtifact(context, place, query.folder ?? null);
    return zipAnswer(c, zip, `${params.name}.zip`);
  },
};
