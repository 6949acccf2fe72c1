import type {
  HostedCheckRun,
  HostedHook,
  HostedJob,
  HostSettings,
  MintedToken,
  PostedStatus,
  Recorded,
} from "./recording-host/host-state.ts";

interface Seen {
  requests: Recorded[];
  hooks: HostedHook[];
  statuses: PostedStatus[];
  jobs: HostedJob[];
  minted: MintedToken[];
  checkRuns: HostedCheckRun[];
  ordered: number[];
  appHook: { url?: string; secret?: string; content_type?: string };
}

export const HOST_TOKEN = "canary-token-of-the-git-host";

/** Creates a git host that only this test knows. The Worker finds it at `webUrl`. */
export const newHost = async (settings: Partial<HostSettings> & Pick<HostSettings, "kind">) => {
  const name = `${settings.kind}-${crypto.randomUUID()}.example`;
  const control = async (change?: Partial<HostSettings>): Promise<Seen> => {
    const init = change ? { method: "PUT", body: JSON.stringify(change) } : {};
    return (await fetch(`https://recorder.example/${name}`, init)).json();
  };
  const repositories = [
    { id: 41, fullName: "acme/shop", defaultBranch: "trunk", isPrivate: true },
    { id: 42, fullName: "acme/tools" },
    { id: 43, fullName: "acme/docs" },
  ];
  await control({ token: HOST_TOKEN, repositories, ...settings });
  return { webUrl: `https://${name}`, change: control, seen: () => control() };
};
