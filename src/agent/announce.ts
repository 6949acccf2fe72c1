import { styleText } from "node:util";

const STYLES = { info: "dim", warn: "yellow", error: "red" } as const;

/** The agent's own words on standard error, a line each; colours only on a terminal. Never a secret, never a step's output. */
const line = (level: keyof typeof STYLES, text: string): void => {
  const stamp = new Date().toISOString();
  const shown = process.stderr.isTTY ? styleText(STYLES[level], text) : text;
  process.stderr.write(`${stamp} ${level === "info" ? "" : `${level}: `}${shown}\n`);
};

export const announce = {
  info: (text: string): void => line("info", text),
  warn: (text: string): void => line("warn", text),
  error: (text: string): void => line("error", text),
};
