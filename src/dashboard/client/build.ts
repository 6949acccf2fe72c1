import { showLog } from "./log/show.ts";
import { keepStepInSight } from "./steps.ts";

showLog();
keepStepInSight();
