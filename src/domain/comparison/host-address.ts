type Kind = "github" | "gitlab" | "gitea";

const encoded = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

/** The page of a git host that shows what lies between two commits. */
export const compareAddress = (kind: Kind, webUrl: string, fullName: string, from: string, to: string): string => {
  const place = kind === "gitlab" ? "/-/compare" : "/compare";
  return `${webUrl.replace(/\/+$/, "")}/${encoded(fullName)}${place}/${encodeURIComponent(from)}...${encodeURIComponent(to)}`;
};
