import type { PoolNow } from "../protocol/pool-now.ts";
import type { Context } from "../services/core/context.ts";
import { KeyboardHelp } from "./components/keyboard-help.tsx";
import { PersonMenu } from "./components/person-menu.tsx";
import { Rail } from "./components/rail.tsx";
import { Tabs, TopLine } from "./components/top-line.tsx";
import { Document } from "./document.tsx";
import { navigationFor } from "./navigation.ts";
import { noticeOf } from "./notices.ts";
import type { View } from "./page-definition.ts";
import type { Theme } from "./theme.ts";

interface LayoutProps {
  context: Context;
  view: View;
  theme: Theme;
  now: PoolNow | null;
  /** The `done` of the address: which notice to show. */
  noticeKey: string | null;
}

/** A page for a signed-in person: the rail, where one is, notice, the view, and what opens over it. */
export const Layout = ({ context, view, theme, now, noticeKey }: LayoutProps) => {
  const notice = noticeOf(noticeKey);
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
        Skip to the page
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
