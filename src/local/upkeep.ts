const MINUTE_MS = 60_000;

/** Runs the upkeep of a local service once. One that cannot be reached has it in the next minute. */
export const runUpkeep = (url: string): Promise<void> =>
  fetch(`${url}/cdn-cgi/local/scheduled`).then(
    () => {},
    () => {},
  );

/** Each minute, as the cron trigger of wrangler.toml: `wrangler dev` runs none of them. */
export const runUpkeepEachMinute = (url: string): void => {
  setInterval(() => void runUpkeep(url), MINUTE_MS);
};
