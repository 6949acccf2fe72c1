import { withoutEnd } from "../../domain/text-end.ts";

type Kind = "github" | "gitlab" | "gitea";

const encoded = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

const pageOf = (kind: Kind, webUrl: string, fullName: string, page: string): string =>
  `${withoutEnd(webUrl, "/")}/${encoded(fullName)}${kind === "gitlab" ? "/-" : ""}/${page}`;

/** The page of a git host that shows what lies between two commits. */
export const compareAddress = (kind: Kind, webUrl: string, fullName: string, from: string, to: string): string =>
  pageOf(kind, webUrl, fullName, `compare/${encodeURIComponent(from)}...${encodeURIComponent(to)}`);

/** The page of a git host that shows one commit, and what it changes. */
export const commitAddress = (kind: Kind, webUrl: string, fullName: string, commitSha: string): string =>
  pageOf(kind, webUrl, fullName, `commit/${encodeURIComponent(commitSha)}`);
