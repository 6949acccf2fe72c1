import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { unmetRequirements } from "../../domain/requires.ts";
import type { Plan } from "../../pipeline/parse/plan.ts";
import { PLATFORM } from "../../protocol/agent.ts";
import { PLATFORM_NAMES } from "../../protocol/pipeline.ts";
import { SECOND_MS } from "../../protocol/units.ts";
import { RequirementsNotMet } from "../build/failure.ts";
import { findXcodes } from "../tools/xcodes.ts";
import type { Identity } from "./identity.ts";

export interface Capabilities {
  canBuildIOS: boolean;
  canBuildAndroid: boolean;
  canBuildWeb: boolean;
}

export const platformCode = (): number =>
  process.platform === "darwin" ? PLATFORM.macos : process.platform === "linux" ? PLATFORM.linux : PLATFORM.other;

export const platformName = (): (typeof PLATFORM_NAMES)[number] => PLATFORM_NAMES[platformCode()] ?? "other";

const succeeds = (command: string, args: string[]): boolean => {
  try {
    execFileSync(command, args, { stdio: "ignore", timeout: 20 * SECOND_MS });
    return true;
  } catch {
    return false;
  }
};

/**
 * Returns this machine's capabilities. Detects those that `options` does not give from installed tools (Xcode, an
 * Android SDK, npm).
 */
export const detectCapabilities = (options: Partial<Capabilities>): Capabilities => ({
  canBuildIOS: options.canBuildIOS ?? (process.platform === "darwin" && succeeds("xcodebuild", ["-version"])),
  canBuildAndroid:
    options.canBuildAndroid ??
    [process.env.ANDROID_HOME, process.env.ANDROID_SDK_ROOT].some((path) => Boolean(path) && existsSync(path ?? "")),
  canBuildWeb: options.canBuildWeb ?? succeeds("npm", ["--version"]),
});

/** Checks the requirements. @throws RequirementsNotMet when this agent lacks one from the pipeline file */
export const checkRequirements = (requires: Plan["job"]["requires"], identity: Identity, file: string): void => {
  const xcodes = requires.xcode ? findXcodes().map(({ version }) => version) : [];
  const lacks = unmetRequirements({ ...identity, platform: platformCode(), xcodes }, requires);
  if (lacks.length === 0) return;
  const phrases = lacks.map((lack) => lack.phrase).join(", ");
  throw new RequirementsNotMet(`${file} requires another agent: ${identity.name} ${phrases}`, requires);
};
