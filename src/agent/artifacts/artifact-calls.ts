import * as z from "zod/mini";
import {
  type ArtifactEnd,
  ArtifactFile,
  type ArtifactOpening,
  type DownloadRequest,
  Downloads,
  OpenedArtifact,
} from "../../protocol/artifact.ts";
import { ArtifactRefused, LeaseCalls, PART_TIMEOUT } from "./lease-calls.ts";

/** What an agent asks of the service about artifacts. @throws ArtifactRefused, Cancel lease-lost */
export class ArtifactCalls extends LeaseCalls<ArtifactOpening, ArtifactEnd> {
  protected readonly kind = {
    path: "artifact",
    opened: z.pipe(
      OpenedArtifact,
      z.transform(({ artifactId: id, ...opened }) => ({ id, ...opened })),
    ),
    end: { status: 200, timeout: PART_TIMEOUT },
  };

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
