import { updateTimes } from "./clock.ts";
import { createButton } from "./elements.ts";
import { REFRESHED } from "./events.ts";
import { parseMarkup } from "./markup.ts";
import { morphChildren } from "./morph.ts";

/** The longest pause between tries while the service is unreachable. */
const MOST_SECONDS = 30;
const TIMEOUT_MS = 15_000;
/** Scrolled further than this, a page announces new rows and does not move what a person reads. */
const SCROLLED_PIXELS = 120;

const main = document.querySelector("main") as HTMLElement;

/** The number of rows at the top of a list that the page does not show yet. */
const countNewRows = (list: Element): number => {
  const first = document.getElementById(list.id)?.firstElementChild;
  return first
    ? Math.max(
        0,
        [...list.children].findIndex(({ id }) => id === first.id),
      )
    : 0;
};

const announce = (count: number, noun: string, show: () => void): void => {
  const button = createButton("announce", `${count} new ${noun}${count === 1 ? "" : "s"}`, () => {
    button.remove();
    show();
    scrollTo({ top: 0 });
  });
  document.querySelector(".announce")?.remove();
  document.body.append(button);
};

/** The title and the icon of the tab tell the state, also while nobody looks at the page. */
const showTab = ({ title, head }: Document): void => {
  document.title = title;
  const [shown, wanted] = [document.head, head].map((each) => each.querySelector<HTMLLinkElement>("link[rel=icon]"));
  const href = wanted?.getAttribute("href");
  if (shown && href && shown.getAttribute("href") !== href) shown.setAttribute("href", href);
};

const apply = (next: HTMLElement): void => {
  showTab(next.ownerDocument);
  main.dataset.again = next.dataset.again ?? "";
  main.dataset.state = next.dataset.state ?? "";
  morphChildren(main, next);
  const now = [document, next.ownerDocument].map((page) => page.getElementById("now"));
  if (now[0] && now[1]) morphChildren(now[0], now[1]);
  updateTimes();
  document.dispatchEvent(new Event(REFRESHED));
};

const refresh = async (): Promise<void> => {
  const response = await fetch(location.href, {
    headers: { Accept: "text/html" },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (response.redirected) return location.reload();
  if (!response.ok) throw new Error(`${response.status}`);
  const next = parseMarkup(await response.text()).querySelector("main");
  if (!next) return;
  const list = next.querySelector<HTMLElement>("[data-announce]");
  const count = list && scrollY > SCROLLED_PIXELS ? countNewRows(list) : 0;
  if (count > 0) announce(count, list?.dataset.announce ?? "row", () => apply(next));
  else apply(next);
};

/**
 * Refreshes the page as often as it asks for (`data-again`, in seconds): with backoff while the service is
 * unreachable, and not while the page is hidden.
 */
export const startAutoRefresh = (): void => {
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const schedule = () => {
    clearTimeout(timer);
    const seconds = Number(main.dataset.again || 0);
    if (seconds === 0 || document.hidden) return;
    timer = setTimeout(refreshNow, 1000 * Math.min(MOST_SECONDS, seconds * 2 ** failures));
  };
  const refreshNow = async () => {
    try {
      await refresh();
      failures = 0;
    } catch {
      failures += 1;
    }
    document.body.toggleAttribute("data-away", failures > 1);
    schedule();
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? schedule() : refreshNow()));
  schedule();
};
