import { tick } from "./clock.ts";
import { offerCopies } from "./copy.ts";
import { listen } from "./keys.ts";
import { keepLive } from "./live.ts";
import { endNotice } from "./notice.ts";
import { keepSummary } from "./summary.ts";

setInterval(tick, 1000);
endNotice();
listen();
offerCopies();
keepLive();
keepSummary();
