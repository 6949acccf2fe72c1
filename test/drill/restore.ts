import { RestoreScenario, SIDES } from "../support/local/restore-scenario.ts";

/** Puts older files of D1, of the pool, and of both back under a service, and looks at every promise. */
export const drill = async (): Promise<boolean> => {
  let isRight = true;
  for (const side of SIDES) {
    console.log(`restore of: ${side}`);
    const scenario = new RestoreScenario(side, (line) => console.log(`  ${line}`));
    await scenario.run();
    isRight &&= scenario.findings.every((finding) => finding.isRight);
  }
  console.log(isRight ? "all as it should be" : "not all as it should be");
  return isRight;
};
