/**
 * Waits for all promises, even when one fails, so that none continues unattended.
 * @throws the error of the first failed promise in the list
 */
export const inParallel = async <Results extends unknown[]>(
  ...work: { [Index in keyof Results]: Promise<Results[Index]> }
): Promise<Results> => {
  const ends = await Promise.allSettled(work);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return Promise.all(work) as Promise<Results>;
};
