import { keepLive } from "./auto-refresh.ts";
import { tick } from "./clock.ts";
import { offerCopies } from "./copy-buttons.ts";
import { listen } from "./keys.ts";
import { endNotice } from "./notice.ts";
import { keepSummary } from "./summary.ts";

setInterval(tick, 1000);
endNotice();
listen();
offerCopies();
keepLive();
keepSummary();
