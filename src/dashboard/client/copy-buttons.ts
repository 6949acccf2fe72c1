import { createButton } from "./elements.ts";

const CONFIRMED_MS = 2000;

/** Adds a button that copies the text to every text that is there to be copied. */
export const addCopyButtons = (): void => {
  for (const box of document.querySelectorAll(".copied")) {
    const button = createButton("", "Copy", async () => {
      await navigator.clipboard.writeText(box.querySelector("pre")?.textContent ?? "");
      button.textContent = "Copied";
      setTimeout(() => {
        button.textContent = "Copy";
      }, CONFIRMED_MS);
    });
    box.prepend(button);
  }
};
