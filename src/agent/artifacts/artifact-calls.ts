import * as z from "zod/mini";
import {
  type ArtifactEnd,
  ArtifactFile,
  type ArtifactOpening,
  CONTENT_SHA256_HEADER,
  type DownloadRequest,
  Downloads,
  GRANT_HEADER,
  OpenedArtifact,
  SentPart,
} from "../../protocol/artifact.ts";
import { ArtifactRefused, LeaseCalls } from "./lease-calls.ts";
import type { UploadCalls } from "./part-sender.ts";

/** Milliseconds that a part may take: 32 MiB at half a megabit a second. */
export const PART_TIMEOUT = 600_000;

type Opening = z.infer<typeof ArtifactOpening>;

/** What an agent asks of the service about artifacts. @throws ArtifactRefused, Cancel lease-lost */
export class ArtifactCalls extends LeaseCalls implements UploadCalls<Opening> {
  /** Says what will be sent. The same again answers the same artifact, with a fresh grant. */
  open(body: Opening): Promise<OpenedArtifact> {
    return this.call(OpenedArtifact, 201, { method: "POST", path: this.path("artifact"), body });
  }

  part(artifactId: string, number: number, grant: string, bytes: Buffer, sha256: string): Promise<{ etag: string }> {
    return this.call(SentPart, 200, {
      method: "PUT",
      path: this.path(`artifact/${artifactId}/part/${number}`),
      headers: { [GRANT_HEADER]: grant, [CONTENT_SHA256_HEADER]: sha256 },
      bytes,
      timeout: PART_TIMEOUT,
    });
  }

  async end(artifactId: string, grant: string, body: z.infer<typeof ArtifactEnd>): Promise<void> {
    const path = this.path(`artifact/${artifactId}/done`);
    await this.send(200, { method: "POST", path, headers: { [GRANT_HEADER]: grant }, body, timeout: PART_TIMEOUT });
  }

  async downloads(body: DownloadRequest): Promise<Downloads["artifacts"]> {
    return (await this.call(Downloads, 200, { method: "POST", path: this.path("download"), body })).artifacts;
  }

  async list(grant: string): Promise<ArtifactFile[]> {
    const { body } = await this.send(200, { method: "GET", path: `/artifact/${encodeURIComponent(grant)}/list` });
    const files = z.array(ArtifactFile).safeParse(body);
    if (!files.success) throw new ArtifactRefused(null, "the service answered with a list that is none");
    return files.data;
  }
}
