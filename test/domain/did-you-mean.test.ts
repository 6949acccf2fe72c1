import { describe, expect, it } from "vitest";
import { didYouMean } from "../../src/domain/did-you-mean.ts";

const KEYS = ["name", "run", "working-directory", "timeout-minutes", "isSecret", "continue-on-error", "env"];

describe("didYouMean", () => {
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
  ])("%s: %s", (text, meant) => {
    expect(didYouMean(text, KEYS)).toBe(meant);
  });
});
