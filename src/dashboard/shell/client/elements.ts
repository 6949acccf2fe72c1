export const createElement = (name: string, className: string, text = ""): HTMLElement => {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text;
  return element;
};

export const createButton = (className: string, text: string, press: () => void): HTMLButtonElement => {
  const button = createElement("button", className, text) as HTMLButtonElement;
  button.type = "button";
  button.addEventListener("click", press);
  return button;
};

/** The event that the document gets after each refresh of the page. */
export const REFRESHED = "millrace:refreshed";
