import { formatDuration, formatRelative } from "../../parts/format-time.ts";

const setText = (element: Element, text: string): void => {
  if (element.textContent !== text) element.textContent = text;
};

const LOCAL = new Intl.DateTimeFormat("en-GB", {
  ...{ day: "numeric", month: "short", year: "numeric" },
  ...{ hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short" },
});

const local = (time: Element): string => LOCAL.format(new Date(time.getAttribute("datetime") ?? 0));

/** The title of a time has it in UTC; the clock of the person is put beside it once somebody looks. */
export const showLocalTimes = (): void => {
  document.addEventListener("pointerover", ({ target }) => {
    const time = target instanceof Element ? target.closest<HTMLElement>("time[title]") : null;
    if (time && !time.title.includes("\n")) time.title = `${local(time)}\n${time.title}`;
  });
};

/** Updates every time on the page: durations that still count, and how long ago something was. */
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
