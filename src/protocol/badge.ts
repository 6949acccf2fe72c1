import * as z from "zod/mini";

/** The address of a pipeline's badge, and the text that shows it in a file of Markdown. */
export const Badge = z.object({ url: z.string(), markdown: z.string() });
