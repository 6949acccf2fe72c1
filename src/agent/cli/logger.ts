import { rotateLog } from "./launchd.ts";

/** Terminal colours by number: dim, yellow, red. */
const STYLES = { info: 2, warn: 33, error: 31 } as const;

/** Writes one agent log line to standard error, coloured on a terminal. Never writes a secret or a step's output. */
const line = (level: keyof typeof STYLES, text: string): void => {
  const stamp = new Date().toISOString();
  const coloured =
    process.stderr.isTTY && process.stderr.hasColors() ? `\u001b[${STYLES[level]}m${text}\u001b[0m` : text;
  rotateLog();
  process.stderr.write(`${stamp} ${level === "info" ? "" : `${level}: `}${coloured}\n`);
};

export const logger = {
  info: (text: string): void => line("info", text),
  warn: (text: string): void => line("warn", text),
  error: (text: string): void => line("error", text),
};
