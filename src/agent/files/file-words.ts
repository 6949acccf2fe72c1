/** Returns a name in a form that is safe for logs. */
export const shownPath = (path: string): string => JSON.stringify(path).slice(1, -1);

/** Folders that work only as a whole, with their links and modes. The agent stores each as one tar. */
const BUNDLE = /\.(?:app|framework|xcframework|xcarchive|xcresult|dSYM)$/;
export const isBundle = (name: string): boolean => BUNDLE.test(name);
/** Reports whether a file is the tar of such a folder. */
export const isTarOfBundle = (path: string): boolean => path.endsWith(".tar") && isBundle(path.slice(0, -4));

const UNITS = ["bytes", "KiB", "MiB", "GiB"];

/** Formats a number of bytes for people: `312 MiB`, `2.1 GiB`. */
export const sizeInWords = (bytes: number): string => {
  let [size, unit] = [bytes, 0];
  for (; size >= 1024 && unit < UNITS.length - 1; unit++) size /= 1024;
  return `${size >= 10 || unit === 0 ? Math.round(size) : size.toFixed(1)} ${UNITS[unit]}`;
};

export const filesInWords = (count: number): string => (count === 1 ? "1 file" : `${count} files`);
