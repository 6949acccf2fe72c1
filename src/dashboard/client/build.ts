import { listenToCopyButtons } from "./copy-texts.ts";
import { showLogPanel } from "./log/log-panel.ts";
import { listenToNextError } from "./next-error.ts";
import { filterRows } from "./row-filter.ts";
import { scrollToActiveStep } from "./step-scroll.ts";

showLogPanel();
scrollToActiveStep();
listenToCopyButtons();
listenToNextError();
filterRows();
