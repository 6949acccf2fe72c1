import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { writtenAppSecret } from "../../../src/githosts/github/app-key.ts";
import { newAppKeys } from "../../support/app-keys.ts";
import { HOST_TOKEN, newHost } from "../../support/host-at.ts";
import type { HostedApp } from "../../support/recording-host/host-state.ts";
import { newConnection, passTime, reportOf, setClockRight } from "./support.ts";

const { key, publicKey } = newAppKeys();
const APP: HostedApp = {
  id: 4242,
  clientId: "Iv23client",
  publicKey,
  installationId: 99,
  account: "acme",
  isAnyTime: true,
  tokenMs: 10 * 3_600_000,
};
/** The service's clock is at least an hour ahead of the host's, so one of its hours is not a limit here. */
const HOUR = 3_600_000;
const SECRET = { key, formerToken: HOST_TOKEN };

afterEach(setClockRight);

const installed = async (over: { app?: HostedApp; installationId?: string } = {}) => {
  passTime(0);
  const at = await newHost({ kind: "github", app: over.app ?? APP });
  const secret = writtenAppSecret(SECRET);
  const connection = await newConnection("github", at.webUrl, { auth: "app", installationId: "99", secret, ...over });
  const told = async () => {
    const { requests } = await at.seen();
    const statuses = requests.filter(({ path }) => /[/](statuses|check-runs)/.test(path));
    return statuses.map(({ headers }) => headers.authorization?.replace("Bearer ", ""));
  };
  const tell = async (sha: string) => {
    await connection.host.report([reportOf({ sha: sha.repeat(40) })]);
    passTime(2_000);
    await runDurableObjectAlarm(connection.host);
  };
  return { ...connection, at, told, tell };
};

describe("the object of a GitHub App", () => {
  it("reports states with an installation token, which it requests once", async () => {
    const { at, told, tell } = await installed();
    await tell("1");
    await tell("2");
    const { requests, minted } = await at.seen();
    expect(requests.flatMap(({ problems }) => problems)).toEqual([]);
    expect(minted).toHaveLength(1);
    expect(await told()).toEqual([minted[0]?.token, minted[0]?.token]);
  });

  it("requests a new token after 45 minutes, and after an eviction", async () => {
    const { at, told, tell, host } = await installed();
    await tell("1");
    passTime(44 * 60_000);
    await tell("2");
    passTime(46 * 60_000);
    await tell("3");
    await evictDurableObject(host);
    await tell("4");
    const { minted } = await at.seen();
    expect(minted).toHaveLength(3);
    const [first, second, third] = minted.map(({ token }) => token);
    expect(await told()).toEqual([first, first, second, third]);
  });

  it("does not use a token in its last quarter of an hour", async () => {
    const { at, tell } = await installed({ app: { ...APP, tokenMs: HOUR + 20 * 60_000 } });
    await tell("1");
    passTime(6 * 60_000);
    await tell("2");
    expect((await at.seen()).minted).toHaveLength(2);
  });

  it("requests a new token if the host rejects the current one", async () => {
    const { at, told, tell, host } = await installed();
    await tell("1");
    await at.change({ faults: [{ on: "POST /repos/acme/shop/check-runs", answer: 401, times: 1 }] });
    await tell("2");
    passTime(60_000);
    await runDurableObjectAlarm(host);
    const [first, second] = (await at.seen()).minted.map(({ token }) => token);
    expect(await told()).toEqual([first, first, second]);
  });

  it("reports states with the previous token until it is installed", async () => {
    const { told, tell, id, host } = await installed({ installationId: undefined });
    await tell("1");
    expect(await told()).toEqual([HOST_TOKEN]);
    await env.DB.prepare("UPDATE connection SET installation_id = '99' WHERE id = ?").bind(id).run();
    await host.connectionChanged();
    await tell("2");
    expect((await told())[1]).toMatch(/^ghs_/);
  });

  it("loses no state while the host issues no token, and reports it later", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { at, told, tell, host } = await installed();
    await at.change({ faults: [{ on: "POST /app/installations/99/access_tokens", answer: 502, times: 1 }] });
    await tell("1");
    expect(await told()).toEqual([]);
    passTime(40_000);
    await runDurableObjectAlarm(host);
    expect(await told()).toHaveLength(1);
    expect(JSON.stringify(logged.mock.calls)).not.toMatch(/PRIVATE KEY|ghs_/);
  });

  it("stores neither the key nor a token", async () => {
    const { at, tell, host } = await installed();
    await tell("1");
    const stored = await runInDurableObject(host, (_object, { storage }) =>
      JSON.stringify(["commits", "meta"].flatMap((table) => [...storage.sql.exec(`SELECT * FROM ${table}`).raw()])),
    );
    expect(stored).toContain("millrace/test");
    expect(stored).not.toMatch(/PRIVATE KEY|ghs_/);
    expect((await at.seen()).minted).toHaveLength(1);
  });
});
