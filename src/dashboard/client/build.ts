import { showLog } from "./log/show.ts";

showLog();
