import * as z from "zod/mini";

/** What is sealed for a GitHub App. */
const AppSecret = z.object({
  /** The App's private key, as PEM. */
  key: z.string(),
  /** The token of before, for the hooks that it made, until they are removed. */
  formerToken: z.optional(z.string()),
});
type AppSecret = z.infer<typeof AppSecret>;

export const writtenAppSecret = (secret: AppSecret): string => JSON.stringify(secret);

/** Reads what `writtenAppSecret` wrote. @throws where it is something else */
export const readAppSecret = (text: string): AppSecret => AppSecret.parse(JSON.parse(text));
