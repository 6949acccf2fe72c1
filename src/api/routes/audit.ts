import { listAudit } from "../../services/audit.ts";
import { describing, get, type Route } from "./route.ts";

export const AUDIT_ROUTES: Route[] = [
  get(
    "/audit",
    { listAudit },
    describing && {
      tag: "Audit",
      summary: "List the entries of the audit log, newest first",
      description: "Entries contain the names of keys, never values.",
    },
  ),
];
