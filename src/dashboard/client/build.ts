import { showLogPanel } from "./log/log-panel.ts";
import { scrollToActiveStep } from "./step-scroll.ts";

showLogPanel();
scrollToActiveStep();
