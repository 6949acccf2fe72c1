import { tick } from "./clock.ts";
import { REFRESHED } from "./events.ts";
import { parseMarkup } from "./markup.ts";
import { morphChildren } from "./morph.ts";

const SLOWEST_SECONDS = 30;
const ANSWER_MS = 15_000;
/** Pixels below the top from which new rows announce themselves in place of pushing what is read. */
const SCROLLED = 120;

const main = document.querySelector("main") as HTMLElement;

/** Rows at the head of a list that the page does not have yet. */
const newRows = (next: Element): number => {
  const list = next.querySelector("[data-announce]");
  const known = list && document.getElementById(list.id);
  if (!list || !known?.firstElementChild) return 0;
  const first = known.firstElementChild.id;
  return Math.max(
    0,
    [...list.children].findIndex(({ id }) => id === first),
  );
};

const announce = (count: number, noun: string, show: () => void): void => {
  const button = document.createElement("button");
  button.className = "announce";
  button.type = "button";
  button.textContent = `${count} new ${noun}${count === 1 ? "" : "s"}`;
  button.addEventListener("click", () => {
    button.remove();
    show();
    scrollTo({ top: 0 });
  });
  document.querySelector(".announce")?.remove();
  document.body.append(button);
};

const apply = (next: HTMLElement): void => {
  main.dataset.again = next.dataset.again ?? "";
  main.dataset.state = next.dataset.state ?? "";
  morphChildren(main, next);
  tick();
  document.dispatchEvent(new Event(REFRESHED));
};

const refresh = async (): Promise<void> => {
  const response = await fetch(location.href, {
    headers: { Accept: "text/html" },
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  if (response.redirected) return location.reload();
  if (!response.ok) throw new Error(`${response.status}`);
  const next = parseMarkup(await response.text()).querySelector("main");
  if (!next) return;
  const fresh = newRows(next);
  if (fresh > 0 && scrollY > SCROLLED) {
    announce(fresh, next.querySelector<HTMLElement>("[data-announce]")?.dataset.announce ?? "row", () => apply(next));
  } else apply(next);
};

/** Looks again as often as the page says, less often while the service is away, never while nobody looks. */
export const keepLive = (): void => {
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const plan = () => {
    clearTimeout(timer);
    const seconds = Number(main.dataset.again || 0);
    if (seconds === 0 || document.hidden) return;
    timer = setTimeout(look, 1000 * Math.min(SLOWEST_SECONDS, seconds * 2 ** failures));
  };
  const look = async () => {
    try {
      await refresh();
      failures = 0;
    } catch {
      failures += 1;
    }
    document.body.toggleAttribute("data-away", failures > 1);
    plan();
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? plan() : look()));
  plan();
};
