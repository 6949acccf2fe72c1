import type { View } from "./page-definition.ts";

type Place = NonNullable<View["trail"]>[number];

/** The places above the pages of a repository, and of a connection. */
export const repositoryTrail = ({ id, fullName }: { id: string; fullName: string }): Place[] => [
  { name: "Repositories", href: "/app/repositories" },
  { name: fullName, href: `/app/repositories/${id}` },
];

export const connectionTrail = ({ id, name }: { id: string; name: string }): Place[] => [
  { name: "Connections", href: "/app/connections" },
  { name, href: `/app/connections/${id}` },
];
