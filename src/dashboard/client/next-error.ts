/** The button of the failure leads from one error in the log to the next, and begins again after the last. */
export const listenToNextError = (): void => {
  let at = -1;
  document.addEventListener("click", (event) => {
    const button = (event.target as Element).closest<HTMLElement>("#next-error");
    if (!button) return;
    const errors = (button.dataset.errors ?? "").split(" ");
    at = (at + 1) % errors.length;
    const place = `#at-${errors[at]}`;
    if (button.dataset.page) location.href = button.dataset.page + place;
    else location.hash = place;
  });
};
