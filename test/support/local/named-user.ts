import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";
import type { StepUser } from "../../../src/agent/process/step-user.ts";

/** Only root may become another user, or create one. */
export const isRoot = process.getuid?.() === 0;

/** A user of this machine. Its creator removes it. */
export interface NamedUser extends StepUser {
  remove(): void;
}

/** Creates a user without a home. */
export const makeUser = (): NamedUser => {
  const id = randomInt(1_000_000, 2_000_000_000);
  const name = `millrace-${id}`;
  execFileSync("groupadd", ["--gid", String(id), name]);
  execFileSync("useradd", ["--no-create-home", "--uid", String(id), "--gid", String(id), name], { stdio: "ignore" });
  return { name, uid: id, gid: id, remove: () => void execFileSync("userdel", ["--force", name], { stdio: "ignore" }) };
};
