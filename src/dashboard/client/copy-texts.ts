const CONFIRMED_MS = 2000;

/** Buttons with a text (`data-copy`) copy it, and say so for a moment. */
export const listenToCopyButtons = (): void => {
  document.addEventListener("click", async (event) => {
    const button = (event.target as Element).closest<HTMLElement>("[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(button.dataset.copy ?? "");
    button.toggleAttribute("data-copied", true);
    setTimeout(() => button.toggleAttribute("data-copied", false), CONFIRMED_MS);
  });
};
