/**
 * The text without these characters at its end. A regex such as /x+$/ begins again at each x, which takes as long as the
 * square of a long text of them in engines that go back.
 */
export const withoutEnd = (text: string, characters: string): string => {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
};
