import type * as z from "zod/mini";
import { CONTENT_SHA256_HEADER, GRANT_HEADER, type OpenedUpload, SentPart } from "../../protocol/artifact.ts";
import { LeaseCalls } from "./lease-calls.ts";

/** Milliseconds that a part may take: 32 MiB at half a megabit a second. */
export const PART_TIMEOUT = 600_000;

export type Opened = OpenedUpload & { id: string };

/** The calls that send bytes in parts. @throws ArtifactRefused, Cancel lease-lost */
export abstract class UploadCalls<Opening extends { bytes: number }, End> extends LeaseCalls {
  /** The last part of the path, what an opening is answered with, and how the end is called. */
  protected abstract readonly kind: {
    path: string;
    opened: z.ZodMiniType<Opened>;
    end: { status: number; timeout?: number };
  };

  /** Says what will be sent. The same again, with the grant of before, has a fresh grant. */
  open(body: Opening, before?: string): Promise<Opened> {
    const headers: Record<string, string> = before === undefined ? {} : { [GRANT_HEADER]: before };
    const { path, opened } = this.kind;
    return this.call(opened, 201, { method: "POST", path: this.path(path), headers, body });
  }

  part(id: string, number: number, grant: string, bytes: Buffer, sha256: string): Promise<{ etag: string }> {
    const path = this.path(`${this.kind.path}/${id}/part/${number}`);
    const headers = { [GRANT_HEADER]: grant, [CONTENT_SHA256_HEADER]: sha256 };
    return this.call(SentPart, 200, { method: "PUT", path, headers, bytes, timeout: PART_TIMEOUT });
  }

  async end(id: string, grant: string, body: End): Promise<void> {
    const { status, ...limits } = this.kind.end;
    const path = this.path(`${this.kind.path}/${id}/done`);
    await this.send(status, { method: "POST", path, headers: { [GRANT_HEADER]: grant }, body, ...limits });
  }
}
