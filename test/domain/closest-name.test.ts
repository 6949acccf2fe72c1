import { describe, expect, it } from "vitest";
import { closestName } from "../../src/domain/closest-name.ts";

const KEYS = ["name", "run", "working-directory", "timeout-minutes", "isSecret", "continue-on-error", "env"];

describe("closestName", () => {
  it.each([
    ["nmae", "name"],
    ["rnu", "run"],
    ["workingDirectory", "working-directory"],
    ["working_dir", "working-directory"],
    ["timeout", "timeout-minutes"],
    ["issecret", "isSecret"],
    ["is_secert", "isSecret"],
    ["continueOnErrors", "continue-on-error"],
    ["envs", "env"],
    ["zzz", undefined],
    ["", undefined],
    ["constructor", undefined],
    ["x".repeat(10_000), undefined],
  ])("finds the closest name: %s: %s", (text, meant) => {
    expect(closestName(text, KEYS)).toBe(meant);
  });
});
