const UNITS = ["bytes", "KiB", "MiB", "GiB"];

/** A number of bytes for people: `312 MiB`, `2.1 GiB`. */
export const sizeInWords = (bytes: number): string => {
  let [size, unit] = [bytes, 0];
  for (; size >= 1024 && unit < UNITS.length - 1; unit++) size /= 1024;
  return `${size >= 10 || unit === 0 ? Math.round(size) : size.toFixed(1)} ${UNITS[unit]}`;
};

export const filesInWords = (count: number): string => (count === 1 ? "1 file" : `${count} files`);
