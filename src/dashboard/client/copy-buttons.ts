/** Gives every text that is to be taken elsewhere a button that copies it. */
export const offerCopies = (): void => {
  for (const box of document.querySelectorAll(".copied")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(box.querySelector("pre")?.textContent ?? "");
      button.textContent = "Copied";
      setTimeout(() => {
        button.textContent = "Copy";
      }, 2000);
    });
    box.prepend(button);
  }
};
