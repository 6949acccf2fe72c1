import { listAudit } from "../../services/audit.ts";
import { describing, get, type Route } from "./route.ts";

export const AUDIT_ROUTES: Route[] = [
  get(
    "/audit",
    { listAudit },
    describing && {
      tag: "Audit",
      summary: "List changes and hand-outs, newest first",
      description: "50 a page unless `limit` says otherwise. Names of keys, never values.",
    },
  ),
];
