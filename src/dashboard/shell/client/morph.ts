/** A field that a person is using must not change. */
const isInUse = (element: Element): boolean =>
  element === document.activeElement && element.matches("input, textarea, select");

/** Details stay as a person left them; what the page opens (`data-opens`) opens once. */
const copyAttributes = (from: Element, to: Element): void => {
  for (const { name } of [...to.attributes]) {
    if (!from.hasAttribute(name) && name !== "open") to.removeAttribute(name);
  }
  const wasOpened = to.hasAttribute("data-opens");
  for (const { name, value } of from.attributes) {
    if (to.getAttribute(name) !== value && !(name === "open" && wasOpened)) to.setAttribute(name, value);
  }
};

const isSame = (left: Node, right: Node): boolean =>
  left.nodeType === right.nodeType &&
  left.nodeName === right.nodeName &&
  (!(left instanceof Element) || left.id === (right as Element).id);

const morph = (now: Node, next: Node): void => {
  if (now.isEqualNode(next)) return;
  if (now instanceof Element && next instanceof Element) {
    if (isInUse(now)) return;
    copyAttributes(next, now);
    if (!now.hasAttribute("data-keep")) morphChildren(now, next);
  } else if (now.nodeValue !== next.nodeValue) now.nodeValue = next.nodeValue;
};

/**
 * Changes the children of `now` into those of `next`. Nodes that stay are kept, with their focus, selection and open
 * details. Elements with the same id are the same element, also when they move.
 */
export const morphChildren = (now: Element, next: Element): void => {
  const named = new Map([...now.children].filter(({ id }) => id).map((child) => [child.id, child]));
  let at = now.firstChild;
  for (const wanted of [...next.childNodes]) {
    const known = wanted instanceof Element && wanted.id ? named.get(wanted.id) : undefined;
    if (known && known !== at) now.insertBefore(known, at);
    else if (at && isSame(at, wanted)) at = at.nextSibling;
    else {
      now.insertBefore(document.importNode(wanted, true), at);
      continue;
    }
    morph((known ?? (at ? at.previousSibling : now.lastChild)) as Node, wanted);
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
};
