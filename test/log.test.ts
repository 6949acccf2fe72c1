import { afterEach, expect, it, vi } from "vitest";
import { log } from "../src/log.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const lineOf = (level: "log" | "warn" | "error", write: () => void): unknown => {
  const written = vi.spyOn(console, level).mockImplementation(() => {});
  write();
  expect(written).toHaveBeenCalledTimes(1);
  return JSON.parse(written.mock.calls[0]?.[0]);
};

it("a log line is one JSON object with level, event and organization", () => {
  expect(lineOf("log", () => log.info("upkeep.ran", { orgId: null, done: { pools: 2 } }))).toEqual({
    level: "info",
    event: "upkeep.ran",
    orgId: null,
    done: { pools: 2 },
  });
  expect(lineOf("warn", () => log.warn("pool.hint_failed", { orgId: "acme", error: "gone" }))).toEqual({
    level: "warn",
    event: "pool.hint_failed",
    orgId: "acme",
    error: "gone",
  });
});

it("a log line has an error as text, with its stack", () => {
  const line = lineOf("error", () => log.error("pool.alarm_failed", { orgId: "acme", error: new TypeError("no row") }));
  expect(line).toMatchObject({ error: expect.stringMatching(/^TypeError: no row\n\s+at /) });
});

it("a log line names no organization if the object does not know its own", () => {
  expect(lineOf("error", () => log.error("pool.alarm_failed", { orgId: "" }))).toMatchObject({ orgId: null });
});
