import type { Context } from "../services/core/context.ts";
import { Refusal } from "../services/core/refusal.ts";
import type { Logged } from "../services/log-places.ts";
import { readFound } from "../services/logs.ts";

/** Bytes that a page shows where scripts are off. */
const TAIL_BYTES = 16 * 1024;
const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g;
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]/g;

/** The end of a build's log as plain text without escape sequences; empty when there is no log yet, null when it was deleted. */
export const readLogTail = async (context: Context, build: Logged): Promise<string | null> => {
  try {
    const { body } = await readFound(context, build, { suffix: TAIL_BYTES });
    const text = await new Response(body).text();
    return text.replace(ESCAPES, "").replace(CONTROLS, "");
  } catch (error) {
    if (error instanceof Refusal && error.kind === "not-found") return null;
    throw error;
  }
};
