import { showLog } from "./log/log-panel.ts";
import { keepStepInSight } from "./step-scroll.ts";

showLog();
keepStepInSight();
