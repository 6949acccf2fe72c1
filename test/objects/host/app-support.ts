import { runDurableObjectAlarm } from "cloudflare:test";
import { writtenAppSecret } from "../../../src/githosts/github/app-key.ts";
import { newAppKeys } from "../../support/app-keys.ts";
import { HOST_TOKEN, newHost } from "../../support/host-at.ts";
import type { HostedApp, HostSettings } from "../../support/recording-host/host-state.ts";
import { newConnection, passTime } from "./support.ts";

const { key, publicKey } = newAppKeys();
const APP: HostedApp = {
  ...{ id: 4242, clientId: "Iv23client", publicKey, installationId: 99, account: "acme" },
  ...{ isAnyTime: true, tokenMs: 100 * 3_600_000 },
};

type Over = Partial<HostSettings> & {
  /** While this is false, the object sends statuses with the former token. */
  isInstalled?: boolean;
};

/** Creates a GitHub with our installed App, and the object that speaks with it. */
export const installedApp = async ({ isInstalled = true, ...over }: Over = {}) => {
  passTime(0);
  const at = await newHost({ kind: "github", app: APP, ...over });
  const secret = writtenAppSecret({ key, formerToken: HOST_TOKEN });
  const connection = await newConnection("github", at.webUrl, {
    ...{ auth: "app", secret },
    ...(isInstalled && { installationId: "99" }),
  });
  const runs = async () => (await at.seen()).checkRuns;
  /** Lets time pass, and then runs due alarms. */
  const later = async (milliseconds = 2_000) => {
    passTime(milliseconds);
    return runDurableObjectAlarm(connection.host);
  };
  return { ...connection, at, runs, later };
};
