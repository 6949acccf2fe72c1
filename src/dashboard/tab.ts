import type { IconFile } from "./asset-url.ts";

/** How the tab of a browser tells a state: a sign before the title, and the icon. */
interface Tab {
  sign: string;
  icon: IconFile;
}

const PLAIN: Tab = { sign: "", icon: "mark.svg" };
const WAITING: Tab = { sign: "○ ", icon: "mark-waiting.svg" };
const RUNNING: Tab = { sign: "● ", icon: "mark-running.svg" };
const STOPPED: Tab = { sign: "⊘ ", icon: "mark-canceled.svg" };

const TABS: Record<string, Tab> = {
  queued: WAITING,
  waiting: WAITING,
  pending: WAITING,
  assigned: RUNNING,
  running: RUNNING,
  canceling: RUNNING,
  asking: { sign: "‖ ", icon: "mark-asking.svg" },
  succeeded: { sign: "✓ ", icon: "mark-succeeded.svg" },
  failed: { sign: "✗ ", icon: "mark-failed.svg" },
  canceled: STOPPED,
  dropped: STOPPED,
  skipped: STOPPED,
};

/** Of a page that shows one build or job; a page of none, or of a state from a later release, has the plain mark. */
export const tabOf = (state: string | undefined): Tab => (state !== undefined && TABS[state]) || PLAIN;
