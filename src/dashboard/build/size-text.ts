const UNITS = ["B", "KiB", "MiB", "GiB"] as const;

/** Bytes as people read them: `812 B`, `3.4 MiB`. */
export const sizeText = (bytes: number): string => {
  const step = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** step;
  return `${step === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[step]}`;
};
