import { REFRESHED } from "./events.ts";

/** The field above many steps or jobs hides those without its text, also after a refresh. */
export const filterRows = (): void => {
  const apply = () => {
    const field = document.getElementById("fall-filter") as HTMLInputElement | null;
    const wanted = field?.value.trim().toLowerCase() ?? "";
    for (const row of document.querySelectorAll<HTMLElement>(".fall-row")) {
      const name = row.querySelector(".what bdi")?.textContent ?? "";
      row.toggleAttribute("hidden", !name.toLowerCase().includes(wanted));
    }
  };
  document.addEventListener("input", (event) => {
    if ((event.target as Element).id === "fall-filter") apply();
  });
  document.addEventListener(REFRESHED, apply);
};
