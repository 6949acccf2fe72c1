import type { PoolNow } from "../../protocol/metrics.ts";
import { VERSION } from "../../protocol/version.ts";
import type { Context } from "../../services/core/context.ts";
import { THEMES, type Theme } from "./cookies.ts";
import { assetUrl, Document } from "./document.tsx";
import { KEYS } from "./keys.ts";
import { Icon, type NavigationGroup, navigationFor, navigationPlace } from "./navigation.tsx";
import type { Section, View } from "./page-definition.ts";

interface TopProps {
  groups: NavigationGroup[];
  view: View;
}

/** Shows the person's place: the pages above this page, then this page. */
const Trail = ({ groups, view }: TopProps) => {
  const entry = navigationPlace(groups, view.section)?.entry;
  const own = entry && entry.name !== view.title ? [{ name: entry.name, href: entry.href }] : [];
  return (
    <nav aria-label="Breadcrumb" class="trail">
      {(view.trail ?? own).map(({ name, href }) => (
        <a href={href}>{name}</a>
      ))}
      <span aria-current="page">{view.crumb ?? view.title}</span>
    </nav>
  );
};

const COUNTS = [
  { key: "running", word: "running", href: "/app/builds?status=running" },
  { key: "waiting", word: "waiting", href: "/app/builds?status=queued" },
  { key: "forRole", word: "for you", href: "/app" },
] as const;

/** Shows the current counts. Each count except 0 is a link. */
const Now = ({ now }: { now: PoolNow | null }) => (
  <nav id="now" class="now" aria-label="Activity">
    {now &&
      COUNTS.filter(({ key }) => now[key] > 0).map(({ key, word, href }) => (
        <a href={href} class={`now-${key}`}>
          <strong>{now[key]}</strong> <span class="now-word">{word}</span>
        </a>
      ))}
  </nav>
);

/** Shows the line above every page: the person's place, the current counts, and the button that opens the palette. */
const TopLine = ({ now, ...props }: TopProps & { now: PoolNow | null }) => (
  <div class="top">
    <Trail {...props} />
    <Now now={now} />
    <button type="button" class="to-palette" aria-label="Search and actions, Ctrl K" hidden>
      <Icon name="search" />
      <kbd>Ctrl K</kbd>
    </button>
  </div>
);

/** Shows links to the pages of one navigation group next to each other, on each of these pages. */
const Tabs = ({ groups, view }: TopProps) => {
  const place = navigationPlace(groups, view.section);
  if (!place || place.group.entries.length < 2 || place.entry.name !== view.title) return null;
  return (
    <nav aria-label={place.group.name} class="tabs">
      {place.group.entries.map(({ name, href, section, key }) => (
        <a href={href} aria-current={section === view.section ? "page" : undefined} data-key={key}>
          {name}
        </a>
      ))}
    </nav>
  );
};

/** The notices after an accepted form. The list is closed, so that a link cannot make a page show other text. */
const NOTICES: Record<string, string> = {
  canceled: "Canceling the build.",
  "job-canceled": "Canceling the job.",
  approved: "Approved.",
  rejected: "Rejected.",
  triggered: "Build queued.",
  created: "Created.",
  saved: "Saved.",
  short: "Saved. This secret is so short that masking it hides much other text in logs.",
  "mask-text": "Saved. This secret looks like a mask, so nobody can see where it appears in a log.",
  "common-word": "Saved. This secret is a common word, so masking it hides much other text in logs.",
  json: "Saved. Logs mask this secret as a whole, not single values that a step extracts from its JSON.",
  removed: "Removed.",
  draining: "Draining: the agent finishes its build and accepts no new ones.",
  resumed: "The agent accepts builds again.",
  connected: "Repository connected.",
  "host-connected": "Git host connected.",
  "app-made": "GitHub App created. Its key is stored encrypted.",
  "app-installed": "GitHub App installed.",
  rotated: "Webhook URL and secret rotated.",
  redelivered: "Delivery redelivered.",
};

const noticeText = (key: string | null): string | null =>
  key !== null && Object.hasOwn(NOTICES, key) ? (NOTICES[key] ?? null) : null;

/**
 * Shows who is signed in, the theme, the settings, and sign-out. It is a popover, so that it opens without a script.
 */
const PersonMenu = ({ context, settings, theme }: { context: Context; settings: NavigationGroup[]; theme: Theme }) => (
  <aside id="me" popover="auto" aria-label="Account">
    <p>
      <strong>{context.admitted.role}</strong> <span class="hint">in {context.orgId}</span>
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
        <Icon name="bell" /> Notify me when my builds end
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
        <Icon name="keys" /> Shortcuts
      </button>
      <form method="post" action="/app/sign-out">
        <button type="submit" class="quiet">
          <Icon name="leave" /> Sign out
        </button>
      </form>
    </div>
  </aside>
);

interface RailProps {
  context: Context;
  navigation: ReturnType<typeof navigationFor>;
  section: Section | null;
}

const Entry = ({ group, section }: { group: NavigationGroup; section: Section | null }) => {
  const { name, icon, entries } = group;
  const [first] = entries;
  const isHere = entries.some((entry) => entry.section === section);
  return (
    <a href={first?.href} aria-current={isHere ? "page" : undefined} data-key={first?.key} title={name}>
      <Icon name={icon} />
      <span>{name}</span>
    </a>
  );
};

/** Shows the navigation: a column of icons and words, icons on a narrow screen, or a bar near the thumb on a phone. */
const Rail = ({ context, navigation: { places, settings }, section }: RailProps) => (
  <header class="rail">
    <a class="brand" href="/app" title="Millrace">
      <img src={assetUrl("mark.svg")} alt="" width="18" height="18" />
      <span>Millrace</span>
    </a>
    <span class="org">{context.orgId}</span>
    <nav aria-label="Pages">
      {places.map((group) => (
        <Entry group={group} section={section} />
      ))}
    </nav>
    <nav aria-label="Settings and account" class="foot">
      {settings.map((group) => (
        <Entry group={group} section={section} />
      ))}
      <button type="button" popovertarget="me" aria-label={`Account, ${context.admitted.role}`}>
        <Icon name="person" />
        <span>{context.admitted.role}</span>
      </button>
    </nav>
  </header>
);

/** Shows the list of keys. It is a popover, so that it opens without a script. */
const KeyboardHelp = ({ groups }: { groups: NavigationGroup[] }) => (
  <aside id="keys" popover="auto" aria-label="Keyboard shortcuts">
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
      Programs can do all of this through <a href="/docs">the API</a>. This is Millrace {VERSION}, with{" "}
      <a href="/THIRD-PARTY-NOTICES.txt">third-party software</a>. New here? <a href="/app/first-hour">Get started</a>.
    </p>
  </aside>
);

interface LayoutProps {
  context: Context;
  view: View;
  theme: Theme;
  now: PoolNow | null;
  /** The key of the notice, which is the address's `done`. */
  noticeKey: string | null;
}

/** Shows a page for a signed-in person: the navigation, the person's place, the notice, the view, and the popovers. */
export const Layout = ({ context, view, theme, now, noticeKey }: LayoutProps) => {
  const notice = noticeText(noticeKey);
  const navigation = navigationFor(context);
  const { places, settings } = navigation;
  return (
    <Document
      title={view.title}
      theme={theme}
      state={view.state}
      scripts={["page.js", ...(view.script ? [view.script] : [])]}
    >
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Rail context={context} navigation={navigation} section={view.section} />
      <div class="stage">
        <TopLine groups={[...places, ...settings]} view={view} now={now} />
        <Tabs groups={[...places, ...settings]} view={view} />
        {notice && (
          <p class="notice" role="status">
            {notice}
          </p>
        )}
        <main
          id="main"
          tabindex={-1}
          data-again={view.refreshSeconds}
          data-state={view.state}
          data-branch={view.branch && `${view.branch.repoId}:${view.branch.name}`}
        >
          {view.body}
        </main>
      </div>
      <PersonMenu context={context} settings={settings} theme={theme} />
      <KeyboardHelp groups={[...places, ...settings]} />
    </Document>
  );
};
