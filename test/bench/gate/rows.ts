import { CountedService } from "../support/counted-builds.ts";
import { totalOf } from "../support/counts.ts";
import type { RowGroup } from "./figure.ts";

const VARIABLES = 30;

/** Counts the rows that a build writes in five minutes with 30 variables. */
export const openRows = async (): Promise<RowGroup> => {
  const service = await CountedService.start();
  const { counts } = await service.buildCost(await service.tenant("gate", VARIABLES));
  const count = (name: string, own: number) => ({
    name,
    unit: "rows" as const,
    measure: async () => ({ own, floor: null }),
  });
  return {
    rows: [
      count("rows of a build in objects", totalOf(counts.objectRowsWritten)),
      count("rows of a build in D1", totalOf(counts.d1RowsWritten)),
    ],
    close: () => service.stop(),
  };
};
