import { formatDuration, formatRelative } from "../format-time.ts";

const setText = (element: Element, text: string): void => {
  if (element.textContent !== text) element.textContent = text;
};

/** Updates every time on the page: durations that still count, and how long ago something was. */
export const updateTimes = (): void => {
  const now = Date.now();
  for (const time of document.querySelectorAll<HTMLElement>("time[data-since]")) {
    setText(time, formatDuration(now - Date.parse(time.dataset.since ?? "")));
  }
  for (const time of document.querySelectorAll("time[data-ago]")) {
    setText(time, formatRelative(Date.parse(time.getAttribute("datetime") ?? ""), now));
  }
};
