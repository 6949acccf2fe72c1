import { VERSION } from "../../protocol/version.ts";
import { KEYS } from "../keys.ts";
import type { NavigationGroup } from "../navigation.ts";

/** The list of keys. It is a popover, so it opens without a script. */
export const KeyboardHelp = ({ groups }: { groups: NavigationGroup[] }) => (
  <aside id="keys" popover="auto" aria-label="Keys">
    <dl>
      {[...groups.flatMap(({ entries }) => entries.map(({ key, name }) => ({ key, does: name }))), ...KEYS].map(
        ({ key, does }) => (
          <>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </>
        ),
      )}
    </dl>
    <p class="hint">
      Programs can do all of this with <a href="/docs">the API</a>. This is Millrace {VERSION}, with{" "}
      <a href="/THIRD-PARTY-NOTICES.txt">software of other authors</a>. New here? The{" "}
      <a href="/app/first-hour">first hour</a>.
    </p>
  </aside>
);
