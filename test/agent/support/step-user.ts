import { execFileSync, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { onTestFinished } from "vitest";
import { runAs, type StepUser } from "../../../src/agent/process/step-user.ts";
import { isRoot, makeUser } from "../../support/local/named-user.ts";

const PYTHON = "/usr/bin/python3";
/** Attacks are in Python: they need fork and renameat2, which shells and Node do not have. */
export const canAttack = isRoot && existsSync(PYTHON);

/** Returns a user id without a name that nothing else on this machine uses. */
export const unnamedUser = (): StepUser => {
  const id = randomInt(1_000_000, 2_000_000_000);
  return { name: `user-${id}`, uid: id, gid: id };
};

/** Creates a user with a name in the system, and removes it after the test. */
export const namedUser = (): StepUser => {
  const { remove, ...user } = makeUser();
  onTestFinished(remove);
  return user;
};

/** Runs a Python program as the user. Ends all the user's processes after the test. */
export const attackAs = (user: StepUser, program: string, args: string[] = []) => {
  const child = spawn(PYTHON, ["-c", program, ...args], {
    cwd: "/",
    env: {},
    stdio: ["pipe", "pipe", "inherit"],
    ...runAs(user),
  });
  onTestFinished(() => {
    execFileSync("/bin/sh", ["-c", "kill -s KILL -- -1 || :"], { ...runAs(user), stdio: "ignore" });
  });
  return child;
};
