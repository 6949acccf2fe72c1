import { VERSION } from "../../protocol/version.ts";

const KEYS = [
  ["g b / g a / g r / g v", "Builds, agents, repositories, variables"],
  ["j / k", "Next, previous row"],
  ["Enter", "Open"],
  ["/", "Search or filter"],
  ["c / r", "Cancel, retry the build"],
  ["f", "Follow the log's end"],
  ["?", "These keys"],
];

/** What the keyboard does; opens without a script. */
export const Keys = () => (
  <aside id="keys" popover="auto" aria-label="Keys">
    <dl>
      {KEYS.map(([key, does]) => (
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
