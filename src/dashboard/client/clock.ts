import { formatDuration, formatRelative } from "../format-time.ts";

const say = (element: Element, text: string): void => {
  if (element.textContent !== text) element.textContent = text;
};

/** Moves every time on the page on: those that count, and those that say how long ago. */
export const tick = (): void => {
  const now = Date.now();
  for (const time of document.querySelectorAll<HTMLElement>("time[data-since]")) {
    say(time, formatDuration(now - Date.parse(time.dataset.since ?? "")));
  }
  for (const time of document.querySelectorAll("time[data-ago]")) {
    say(time, formatRelative(Date.parse(time.getAttribute("datetime") ?? ""), now));
  }
};
