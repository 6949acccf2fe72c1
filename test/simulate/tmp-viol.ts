import { History } from "./history.ts";
import { RULES } from "../../src/domain/pool/rules.ts";
import { runHistory } from "./run.ts";
for (let seed = 4; seed < 80; seed++) for (let index = 0; index < 25; index++) {
    const history = new History(seed, index, RULES);
    const failure = runHistory(history, index);
    if (failure) { console.log(seed, index, failure.message); }
}
