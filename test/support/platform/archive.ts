import type { Cross } from "./crossing.ts";

type Method = (...given: unknown[]) => Promise<unknown>;

const METHODS = ["head", "get", "put", "delete", "list", "createMultipartUpload"] as const;
const OF_UPLOADS = ["uploadPart", "abort", "complete"] as const;

const bound = (target: object, name: string): Method =>
  ((target as unknown as Record<string, Method>)[name] as Method).bind(target);

/** Wraps R2: its methods, and those of uploads in parts. */
export const standBeforeArchive = (bucket: R2Bucket, cross: Cross): { aside: R2Bucket; leave: () => void } => {
  const crossing = (method: string, given: unknown[]) =>
    ({ part: "ARCHIVE", method, name: String(given[0] ?? ""), statements: [], given }) as const;
  const upload = (real: R2MultipartUpload): R2MultipartUpload => {
    const methods = OF_UPLOADS.map((method) => {
      const call = bound(real, method);
      return [method, (...given: unknown[]) => cross(crossing(method, [real.key]), () => call(...given))] as const;
    });
    const { key, uploadId } = real;
    return { key, uploadId, ...Object.fromEntries(methods) } as unknown as R2MultipartUpload;
  };
  const real = Object.fromEntries(METHODS.map((method) => [method, bound(bucket, method)]));
  const resume = bucket.resumeMultipartUpload.bind(bucket);
  const troubled = Object.fromEntries(
    METHODS.map((method) => [
      method,
      async (...given: unknown[]) => {
        const answer = await cross(crossing(method, given), () => real[method]!(...given));
        return method === "createMultipartUpload" ? upload(answer as R2MultipartUpload) : answer;
      },
    ]),
  );
  Object.assign(bucket, troubled, {
    resumeMultipartUpload: (key: string, id: string) => upload(resume(key, id)),
  });
  return {
    aside: { ...real, resumeMultipartUpload: resume } as unknown as R2Bucket,
    leave: () => {
      for (const name of [...METHODS, "resumeMultipartUpload"]) Reflect.deleteProperty(bucket, name);
    },
  };
};
