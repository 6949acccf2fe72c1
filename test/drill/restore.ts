import { RestoreScenario, SIDES } from "../support/local/restore-scenario.ts";

/** Restores older files of D1, of the pool, and of both under a service, and checks every promise. */
export const drill = async (): Promise<boolean> => {
  let isRight = true;
  for (const side of SIDES) {
    console.log(`restore of: ${side}`);
    const scenario = new RestoreScenario(side, (line) => console.log(`  ${line}`));
    await scenario.run();
    isRight &&= scenario.findings.every((finding) => finding.isRight);
  }
  console.log(isRight ? "all checks passed" : "some checks FAILED");
  return isRight;
};
