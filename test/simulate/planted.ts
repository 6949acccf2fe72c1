import type { WrongRules } from "./pool.ts";

/** A wrong rule in the source: for what a file of `src` says once in this way. */
export const planted = (path: string, right: string, wrong: string): Partial<WrongRules> => ({
  planted: { file: `src/${path}`, right, wrong },
});

/** Of actions with this name no audit entry is stored. */
export const withoutAudit = (action: string): Partial<WrongRules> => {
  const right = 'return [{ kind: "audit", entry';
  return planted("queue/state/decision.ts", right, `if (action === "${action}") return [];\n  ${right}`);
};
