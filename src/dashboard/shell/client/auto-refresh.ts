import { formatDuration, formatRelative } from "../../parts/format.ts";
import { createButton, REFRESHED } from "./elements.ts";

const setText = (element: Element, text: string): void => {
  if (element.textContent !== text) element.textContent = text;
};

const LOCAL = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});

const local = (time: Element): string => LOCAL.format(new Date(time.getAttribute("datetime") ?? 0));

/** Adds the person's local time to the title of a time, which has UTC, when the pointer is over the time. */
export const showLocalTimes = (): void => {
  document.addEventListener("pointerover", ({ target }) => {
    const time = target instanceof Element ? target.closest<HTMLElement>("time[title]") : null;
    if (time && !time.title.includes("\n")) time.title = `${local(time)}\n${time.title}`;
  });
};

/** Updates every time on the page, both running durations and relative times. */
export const updateTimes = (): void => {
  const now = Date.now();
  for (const time of document.querySelectorAll<HTMLElement>("time[data-since]")) {
    setText(time, formatDuration(now - Date.parse(time.dataset.since ?? "")));
  }
  for (const time of document.querySelectorAll("time[data-clock]")) setText(time, local(time));
  for (const time of document.querySelectorAll("time[data-ago]")) {
    setText(time, formatRelative(Date.parse(time.getAttribute("datetime") ?? ""), now));
  }
};

/** Reports whether a person is using the field. A refresh must not change the field then. */
const isInUse = (element: Element): boolean =>
  element === document.activeElement && element.matches("input, textarea, select");

/** Copies attributes. Details stay as a person left them. Details that the page opens (`data-opens`) open only once. */
const copyAttributes = (from: Element, to: Element): void => {
  for (const { name } of [...to.attributes]) {
    if (!from.hasAttribute(name) && name !== "open") to.removeAttribute(name);
  }
  const wasOpened = to.hasAttribute("data-opens");
  for (const { name, value } of from.attributes) {
    if (to.getAttribute(name) !== value && !(name === "open" && wasOpened)) to.setAttribute(name, value);
  }
};

const isSame = (left: Node, right: Node): boolean =>
  left.nodeType === right.nodeType &&
  left.nodeName === right.nodeName &&
  (!(left instanceof Element) || left.id === (right as Element).id);

const morph = (now: Node, next: Node): void => {
  if (now.isEqualNode(next)) return;
  if (now instanceof Element && next instanceof Element) {
    if (isInUse(now)) return;
    copyAttributes(next, now);
    if (!now.hasAttribute("data-keep")) morphChildren(now, next);
  } else if (now.nodeValue !== next.nodeValue) now.nodeValue = next.nodeValue;
};

/**
 * Changes the children of `now` into the children of `next`. Nodes that remain keep their focus, selection and open
 * details. Elements with the same id count as the same element, even if they move.
 */
const morphChildren = (now: Element, next: Element): void => {
  const childrenById = new Map([...now.children].filter(({ id }) => id).map((child) => [child.id, child]));
  let at = now.firstChild;
  for (const nextChild of [...next.childNodes]) {
    const sameChild = nextChild instanceof Element && nextChild.id ? childrenById.get(nextChild.id) : undefined;
    if (sameChild && sameChild !== at) now.insertBefore(sameChild, at);
    else if (at && isSame(at, nextChild)) at = at.nextSibling;
    else {
      now.insertBefore(document.importNode(nextChild, true), at);
      continue;
    }
    morph((sameChild ?? (at ? at.previousSibling : now.lastChild)) as Node, nextChild);
  }
  while (at) {
    const surplus = at;
    at = at.nextSibling;
    surplus.remove();
  }
};

interface Policies {
  createPolicy(name: string, rules: { createHTML(text: string): string }): { createHTML(text: string): string };
}

/**
 * The policy for the only place where text becomes markup. Its texts are this service's pages and rendered Markdown,
 * and both are escaped.
 */
const policy = (globalThis as { trustedTypes?: Policies }).trustedTypes?.createPolicy("millrace", {
  createHTML: (text) => text,
});

export const parseMarkup = (text: string): Document =>
  new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "text/html");

/** The longest pause, in seconds, between tries while the service is unreachable. */
const MOST_SECONDS = 30;
const TIMEOUT_MS = 15_000;
/**
 * The scroll distance, in pixels, beyond which the page announces new rows instead of showing them, so that the text
 * that a person reads does not move.
 */
const SCROLLED_PIXELS = 120;

const main = document.querySelector("main") as HTMLElement;

/** Counts the rows at the top of a list that the page does not show yet. */
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

/** Shows the state in the tab's title and icon, even while the page is hidden. */
const showTab = ({ title, head }: Document): void => {
  document.title = title;
  const [icon, nextIcon] = [document.head, head].map((each) => each.querySelector<HTMLLinkElement>("link[rel=icon]"));
  const href = nextIcon?.getAttribute("href");
  if (icon && href && icon.getAttribute("href") !== href) icon.setAttribute("href", href);
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
 * Refreshes the page at its own interval (`data-again`, in seconds). Backs off while the service is unreachable, and
 * pauses while the page is hidden.
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
