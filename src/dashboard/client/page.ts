import { startAutoRefresh } from "./auto-refresh.ts";
import { updateTimes } from "./clock.ts";
import { addCopyButtons } from "./copy-buttons.ts";
import { listenToKeys } from "./keys.ts";
import { removeNotice } from "./notice.ts";
import { renderSummary } from "./summary.ts";

setInterval(updateTimes, 1000);
removeNotice();
listenToKeys();
addCopyButtons();
startAutoRefresh();
renderSummary();
