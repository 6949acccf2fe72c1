/** Any text as the name of a folder: different texts have different names, and none leads elsewhere. */
export const safeFolder = (text: string): string => {
  const name = text.replaceAll(/[^\p{L}\p{N}()., _-]/gu, (character) => encodeURIComponent(character));
  return /^\.*$/.test(name) ? `%2E${name}` : name;
};
