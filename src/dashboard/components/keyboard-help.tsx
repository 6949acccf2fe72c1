import { VERSION } from "../../protocol/version.ts";
import type { NavigationEntry } from "../navigation.ts";

const KEYS = [
  ["j / k", "Next or previous row"],
  ["Enter", "Open"],
  ["/", "Search or filter"],
  ["c / r", "Cancel or retry the build"],
  ["R", "Retry what failed"],
  ["f", "Follow the end of the log"],
  ["?", "Show these keys"],
];

/** The list of keys. It is a popover, so it opens without a script. */
export const KeyboardHelp = ({ pages }: { pages: NavigationEntry[] }) => (
  <aside id="keys" popover="auto" aria-label="Keys">
    <dl>
      {[...pages.map(({ key, name }) => [key, name]), ...KEYS].map(([key, action]) => (
        <>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{action}</dd>
        </>
      ))}
    </dl>
    <p class="hint">
      Programs can do all of this with <a href="/docs">the API</a>. This is Millrace {VERSION}, with{" "}
      <a href="/THIRD-PARTY-NOTICES.txt">software of other authors</a>.
    </p>
  </aside>
);
