import { existsSync, readFileSync } from "node:fs";
import { Client, ServiceProblem } from "./client.ts";

export interface LocalAccess {
  url: string;
  orgId: string;
  token: string;
}

const tokenWorks = (url: string, token: string): Promise<boolean> =>
  new Client(url, token).call("GET", "/token/self").then(
    () => true,
    () => false,
  );

/** An admin token of the local organization: the saved one, else that of a new organization, else a new one from the operator. */
export const openOrganization = async (
  url: string,
  orgId: string,
  operatorToken: string,
  localFile: string,
): Promise<LocalAccess> => {
  if (existsSync(localFile)) {
    const { token } = JSON.parse(readFileSync(localFile, "utf8")) as LocalAccess;
    if (await tokenWorks(url, token)) return { url, orgId, token };
  }
  const operator = new Client(url, operatorToken);
  try {
    const { token } = await operator.call<LocalAccess>("POST", "/organization", { id: orgId, name: "Acme" });
    return { url, orgId, token };
  } catch (error) {
    if (!(error instanceof ServiceProblem) || error.status !== 409) throw error;
    const { token } = await operator.call<LocalAccess>("POST", `/organization/${orgId}/token`);
    return { url, orgId, token };
  }
};
