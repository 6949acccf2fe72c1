import type { FollowedBuild } from "../followed-build.ts";

const LOOK_MS = 30_000;
/** The storage key for the builds that this browser follows, and for the builds that ran at the last poll. */
const KEY = "millrace.notify";

interface Settings {
  own: boolean;
  branches: string[];
  running: string[];
}

const read = (): Settings => {
  try {
    return { own: false, branches: [], running: [], ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return { own: false, branches: [], running: [] };
  }
};

const write = (settings: Settings): void => {
  if (settings.own || settings.branches.length > 0) localStorage.setItem(KEY, JSON.stringify(settings));
  else localStorage.removeItem(KEY);
};

const tell = ({ id, title, note }: FollowedBuild): void => {
  const notification = new Notification(title, { body: note, tag: id });
  notification.addEventListener("click", () => {
    focus();
    location.assign(`/app/builds/${encodeURIComponent(id)}`);
  });
};

/**
 * Notifies the person about each build that has ended since the last poll. Each tab polls, and the tag merges the tabs'
 * notifications.
 */
const look = async (): Promise<void> => {
  const { own, branches, running } = read();
  if ((!own && branches.length === 0) || Notification.permission !== "granted") return;
  const query = new URLSearchParams([...(own ? [["own", "1"]] : []), ...branches.map((branch) => ["branch", branch])]);
  const response = await fetch(`/app/followed?${query}`, { headers: { Accept: "application/json" } });
  if (!response.ok || response.redirected) return;
  const { builds } = (await response.json()) as { builds: FollowedBuild[] };
  for (const build of builds) if (build.hasEnded && running.includes(build.id)) tell(build);
  write({ ...read(), running: builds.filter(({ hasEnded }) => !hasEnded).map(({ id }) => id) });
};

/**
 * Offers notifications about ended builds. They are off until a person turns them on; the browser asks for permission
 * once.
 */
export const offerNotifications = (): void => {
  const box = document.querySelector<HTMLElement>("#notify");
  if (!box || !("Notification" in globalThis)) return;
  const branch = document.querySelector<HTMLElement>("main")?.dataset.branch;
  const buttons = [...box.querySelectorAll<HTMLButtonElement>("button")];
  const isOn = (button: HTMLButtonElement): boolean =>
    button.dataset.notify === "own" ? read().own : branch !== undefined && read().branches.includes(branch);
  const show = (): void => {
    for (const button of buttons) button.ariaPressed = String(isOn(button));
  };
  const toggle = async (button: HTMLButtonElement): Promise<void> => {
    const on = !isOn(button);
    if (on && (await Notification.requestPermission()) !== "granted") return;
    const settings = read();
    if (button.dataset.notify === "own") write({ ...settings, own: on });
    else
      write({
        ...settings,
        branches: [...settings.branches.filter((one) => one !== branch), ...(on && branch ? [branch] : [])],
      });
    show();
    await look();
  };
  for (const button of buttons) {
    button.hidden = button.dataset.notify === "branch" && branch === undefined;
    button.addEventListener("click", () => toggle(button));
  }
  box.hidden = false;
  show();
  setInterval(() => look().catch(() => undefined), LOOK_MS);
  look().catch(() => undefined);
};
