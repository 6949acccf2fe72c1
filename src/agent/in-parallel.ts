/**
 * Waits for all of these, also when one fails: none goes on by itself.
 * @throws what the first in the list that failed has thrown
 */
export const inParallel = async <Results extends unknown[]>(
  ...work: { [Index in keyof Results]: Promise<Results[Index]> }
): Promise<Results> => {
  const ends = await Promise.allSettled(work);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return Promise.all(work) as Promise<Results>;
};
