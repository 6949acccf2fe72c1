/** A name as a log may have it. */
export const shownPath = (path: string): string => JSON.stringify(path).slice(1, -1);

/** Folders that are only good as a whole, with their links and modes: each is kept as one tar. */
const BUNDLE = /\.(?:app|framework|xcframework|xcarchive|xcresult|dSYM)$/;
export const isBundle = (name: string): boolean => BUNDLE.test(name);
/** Whether a file is the tar of such a folder. */
export const isTarOfBundle = (path: string): boolean => path.endsWith(".tar") && isBundle(path.slice(0, -4));
