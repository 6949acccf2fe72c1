import type { WrongRules } from "./pool.ts";

/** Plants a wrong rule into the source, where a file of `src` has this text exactly once. */
export const planted = (path: string, right: string, wrong: string): Partial<WrongRules> => ({
  planted: { file: `src/${path}`, right, wrong },
});

/** Stores no audit entry for actions with this name. */
export const withoutAudit = (action: string): Partial<WrongRules> => {
  const right = 'return [{ kind: "audit", entry';
  return planted("queue/state/decision.ts", right, `if (action === "${action}") return [];\n  ${right}`);
};
