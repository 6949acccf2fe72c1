import type { Context } from "../../services/core/context.ts";
import type { NavigationGroup } from "../navigation.ts";
import { THEMES, type Theme } from "../theme.ts";
import { Icon } from "./icon.tsx";

interface PersonMenuProps {
  context: Context;
  settings: NavigationGroup[];
  theme: Theme;
}

/** Who is signed in, the theme, the settings, and the way out. It is a popover, so it opens without a script. */
export const PersonMenu = ({ context, settings, theme }: PersonMenuProps) => (
  <aside id="me" popover="auto" aria-label="You">
    <p>
      <strong>{context.admitted.role}</strong> <span class="hint">of {context.orgId}</span>
    </p>
    <form method="post" action="/app/theme" class="themes">
      {THEMES.map((name) => (
        <button type="submit" name="theme" value={name} aria-pressed={name === theme ? "true" : "false"}>
          <Icon name={name} />
          {name}
        </button>
      ))}
    </form>
    <div id="notify" class="notify" hidden>
      <button type="button" class="quiet" aria-pressed="false" data-notify="own">
        <Icon name="bell" /> Tell me when my builds end
      </button>
      <button type="button" class="quiet" aria-pressed="false" data-notify="branch" hidden>
        <Icon name="bell" /> Follow this branch
      </button>
    </div>
    <ul class="plain">
      {settings.flatMap(({ entries }) =>
        entries.map(({ name, href, key }) => (
          <li>
            <a href={href} data-key={key}>
              {name}
            </a>
          </li>
        )),
      )}
    </ul>
    <div class="actions">
      <button type="button" class="quiet" popovertarget="keys" data-key="?">
        <Icon name="keys" /> Keys
      </button>
      <form method="post" action="/app/sign-out">
        <button type="submit" class="quiet">
          <Icon name="leave" /> Sign out
        </button>
      </form>
    </div>
  </aside>
);
