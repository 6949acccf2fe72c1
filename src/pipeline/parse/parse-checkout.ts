import type { WrittenCheckout } from "../fields/agent-fields.ts";
import type { Checkout } from "./plan.ts";

/** How the commit is fetched: `outer` is what the file says of all its jobs, where `written` leaves something out. */
export const checkoutOf = (written?: WrittenCheckout, outer?: WrittenCheckout): Checkout | false => {
  if (written === false || (written === undefined && outer === false)) return false;
  const merged = { ...(outer || {}), ...written };
  const { depth = 1, submodules = false, lfs = false, "fetch-tags": fetchTags = false } = merged;
  return {
    ...{ depth, submodules: submodules === true ? "direct" : submodules || "none", lfs, fetchTags },
    ...(merged.path && { path: merged.path }),
    ...(merged.mtimes && { mtimes: merged.mtimes }),
  };
};
