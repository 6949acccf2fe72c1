import * as z from "zod/mini";

/** One thing that the service needs. `detail` says what is wrong with it, without quoting a secret. */
export const Check = z.object({ isOk: z.boolean(), detail: z.optional(z.string()) });
export type Check = z.infer<typeof Check>;

export const Readiness = z.object({
  isReady: z.boolean(),
  checks: z.object({
    settings: Check,
    operatorToken: Check,
    tokenKeys: Check,
    secretsKeys: Check,
    database: Check,
    migrations: Check,
    objects: Check,
    archive: Check,
  }),
});
export type Readiness = z.infer<typeof Readiness>;
