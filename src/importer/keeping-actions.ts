/** Keys of a job that such steps become. */
export type KeepingKey = "artifacts" | "downloads" | "cache";

export const KEEPING_ACTIONS: Record<string, KeepingKey> = {
  "actions/cache": "cache",
  "actions/cache/restore": "cache",
  "actions/upload-artifact": "artifacts",
  "actions/download-artifact": "downloads",
};

export const keyOf = (action: string): KeepingKey => KEEPING_ACTIONS[action.toLowerCase()]!;
