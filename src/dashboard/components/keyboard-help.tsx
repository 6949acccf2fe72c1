import { VERSION } from "../../protocol/version.ts";
import type { NavigationEntry } from "../navigation.ts";

const KEYS = [
  ["j / k", "Next, previous row"],
  ["Enter", "Open"],
  ["/", "Search or filter"],
  ["c / r", "Cancel, retry the build"],
  ["f", "Follow the log's end"],
  ["?", "These keys"],
];

/** What the keyboard does; opens without a script. */
export const KeyboardHelp = ({ pages }: { pages: NavigationEntry[] }) => (
  <aside id="keys" popover="auto" aria-label="Keys">
    <dl>
      {[...pages.map(({ key, name }) => [key, name]), ...KEYS].map(([key, does]) => (
        <>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{does}</dd>
        </>
      ))}
    </dl>
    <p class="hint">
      Whatever the pages do, programs do by <a href="/docs">the API</a>. This is Millrace {VERSION}, made with{" "}
      <a href="/THIRD-PARTY-NOTICES.txt">the work of others</a>.
    </p>
  </aside>
);
