import { DurableObject } from "cloudflare:workers";

interface FloorEnv {
  BUCKET: R2Bucket;
}

/** Every floor needs this class. */
export class Floor extends DurableObject<FloorEnv> {}

/** Writes parts to a bucket and reads an object from it, without tokens, grants, leases or checksums. */
export default {
  async fetch(request: Request, { BUCKET }: FloorEnv): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const id = searchParams.get("upload") ?? "";
    switch (pathname) {
      case "/open":
        return new Response((await BUCKET.createMultipartUpload("big")).uploadId);
      case "/part": {
        const body = await request.arrayBuffer();
        const upload = BUCKET.resumeMultipartUpload("big", id);
        return Response.json(await upload.uploadPart(Number(searchParams.get("part")), body));
      }
      case "/done":
        await BUCKET.resumeMultipartUpload("big", id).complete(await request.json());
        return new Response();
      default:
        return new Response((await BUCKET.get("big"))?.body);
    }
  },
} satisfies ExportedHandler<FloorEnv>;
