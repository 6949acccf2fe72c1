/** A part of a text. A part with an address is a link. */
interface LinkedText {
  text: string;
  href: string | null;
}

const ADDRESS = /https?:\/\/[^\s<>"'`\\^{|}]+/g;
/** Characters that belong to the sentence when they follow an address. */
const PUNCTUATION = ".,;:!?)]*";
/**
 * Marks the start of a terminal link (`\x01` and its number) and its end (no number). Texts never contain that
 * character.
 */
const OPENS = /\x01(\d*)\x02/;
const OSC_8 = /\x1b\]8;[^;\x07\x1b]*;([^\x07\x1b]*)(?:\x07|\x1b\\)/g;
const LONGEST = 2000;

const isWeb = (address: string): boolean =>
  address.length <= LONGEST && /^https?:\/\//i.test(address) && URL.canParse(address);

/** Replaces a terminal's links (OSC 8) with marks. Only web addresses become links. */
export const markLinks = (text: string): { text: string; links: string[] } => {
  const links: string[] = [];
  const marked = text.replace(OSC_8, (_, address: string) => {
    if (!isWeb(address)) return "\x01\x02";
    links.push(address);
    return `\x01${links.length - 1}\x02`;
  });
  return { text: marked, links };
};

/**
 * Removes punctuation at the end of an address. Uses no regex, because a regex anchored at the end would restart at
 * each character.
 */
const withoutPunctuation = (address: string): string => {
  let end = address.length;
  while (end > 0 && PUNCTUATION.includes(address[end - 1] ?? " ")) end--;
  return address.slice(0, end);
};

/** Finds the addresses in a text. Leaves out the punctuation after them. */
const addressesIn = (text: string): LinkedText[] => {
  const parts: LinkedText[] = [];
  let from = 0;
  for (const { 0: match, index } of text.matchAll(ADDRESS)) {
    const address = withoutPunctuation(match);
    if (!isWeb(address)) continue;
    parts.push({ text: text.slice(from, index), href: null }, { text: address, href: address });
    from = index + address.length;
  }
  parts.push({ text: text.slice(from), href: null });
  return parts.filter((part) => part.text !== "");
};

/** Splits a marked text into links and other text. `open` is the link that continues from the previous text. */
export const splitAtLinks = (text: string, links: string[], open: string | null) => {
  const parts: LinkedText[] = [];
  let href = open;
  const pieces = text.split(OPENS);
  for (const [index, piece] of pieces.entries()) {
    if (index % 2 === 1) href = piece === "" ? null : (links[Number(piece)] ?? null);
    else if (href !== null && piece !== "") parts.push({ text: piece, href });
    else parts.push(...addressesIn(piece));
  }
  return { parts, open: href };
};
