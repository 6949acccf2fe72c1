import { env } from "cloudflare:workers";
import { loadKeyring } from "../../src/crypto/keyring.ts";
import { connectionContext } from "../../src/domain/seal-context.ts";
import { writtenAppSecret } from "../../src/githosts/github/app-key.ts";
import { newAppKeys } from "./app-keys.ts";
import { newHook, type StoredConnection } from "./hooks.ts";
import { newHost } from "./host-at.ts";
import type { HostSettings } from "./recording-host/host-state.ts";

/** The number of the App at its host. */
export const APP_ID = 4242;

/** Creates a GitHub with an installed App of the organization, and its connection. */
export const newAppConnection = async (orgId: string, settings: Partial<HostSettings> = {}) => {
  const { key, publicKey } = newAppKeys();
  const app = {
    ...{ id: APP_ID, clientId: "Iv23client", publicKey, installationId: 99, account: "acme" },
    ...{ isAnyTime: true, tokenMs: 100 * 3_600_000 },
  };
  const repositories = [{ id: 1, fullName: "acme/app-1" }];
  const host = await newHost({ kind: "github", app, repositories, ...settings });
  const [id, apiUrl] = [crypto.randomUUID(), `${host.webUrl}/api/v3`];
  const context = connectionContext({ id, kind: "github", apiUrl, auth: "app", sealedVersion: 1 });
  const sealed = await loadKeyring(env.SECRETS_KEYS).seal(writtenAppSecret({ key }), context);
  await env.DB.prepare(
    `INSERT INTO connection (id, org_id, kind, name, web_url, api_url, clone_origin, auth, app_id, client_id,
       installation_id, sealed, sealed_version, is_active, created_at, updated_at)
     VALUES (?, ?, 'github', 'our App', ?, ?, ?, 'app', ?, 'Iv23client', '99', ?, 1, 1, '', '')`,
  )
    .bind(id, orgId, host.webUrl, apiUrl, host.webUrl, String(APP_ID), sealed)
    .run();
  const hook: StoredConnection = await newHook({ orgId, kind: "github", connectionId: id, generation: 1 }, 1);
  return { hook, host };
};
