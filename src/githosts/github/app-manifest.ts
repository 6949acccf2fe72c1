import { type NamedKey, parseKeys } from "../../crypto/keys.ts";
import { Signer } from "../../crypto/signer.ts";
import { oncePer } from "../../once-per.ts";
import { HOUR_MS } from "../../protocol/units.ts";

/** What an App asks for, and what lacks without it. Later ones have to be accepted by each owner once more. */
export const APP_PERMISSIONS = {
  metadata: "read",
  contents: "read",
  pull_requests: "read",
  statuses: "write",
  checks: "write",
  merge_queues: "read",
} as const;

/** Deliveries that an App is sent. GitHub sends those of its own installation without being asked. */
const APP_EVENTS = ["push", "pull_request", "check_run", "check_suite", "merge_group", "repository"] as const;

/** What an App is made with. Addresses are this service's. */
interface AppPlaces {
  name: string;
  origin: string;
  connectionId: string;
  hookUrl: string;
}

/** https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest */
export const appManifest = ({ name, origin, connectionId, hookUrl }: AppPlaces) => ({
  name,
  url: origin,
  hook_attributes: { url: hookUrl, active: true },
  redirect_url: `${origin}/app/connections/github/made`,
  setup_url: `${origin}/app/connections/${connectionId}/installed`,
  public: false,
  default_permissions: APP_PERMISSIONS,
  default_events: APP_EVENTS,
});

/** Where a person makes an App at GitHub: for an organization, or without one for their own account. */
export const appFormUrl = (webUrl: string, organization: string | null, state: string): string => {
  const owner = organization === null ? "" : `/organizations/${encodeURIComponent(organization)}`;
  return `${webUrl}${owner}/settings/apps/new?state=${encodeURIComponent(state)}`;
};

/** GitHub takes at most 34 characters, and each name once. */
export const appName = (orgId: string): string => `millrace-${orgId}`.slice(0, 34);

const SHAPE = /^([0-9a-f-]{36})\.([0-9a-z]{1,9})\.([A-Za-z0-9]{12})$/;
/** Milliseconds: GitHub answers the code of a manifest for as long. */
const VALID_MS = HOUR_MS;

/** Who makes an App for a connection: the one who comes back with it must be the same. */
interface AppMaking {
  orgId: string;
  sessionId: string;
  connectionId: string;
}

const parts = ({ orgId, sessionId, connectionId }: AppMaking, time: string): string[] => [
  "app-state",
  orgId,
  sessionId,
  connectionId,
  time,
];

/** Derives the `state` `CONNECTION.TIME.TAG` of a visit to GitHub from the keys of `TOKEN_KEYS`: it is not stored. */
export class AppStates {
  readonly #signer: Signer;

  constructor(keys: readonly NamedKey[]) {
    this.#signer = new Signer(keys);
  }

  /** @param now In milliseconds. */
  async grant(making: AppMaking, now: number): Promise<string> {
    const time = Math.floor(now / 1000).toString(36);
    return `${making.connectionId}.${time}.${await this.#signer.tag(this.#signer.first, ...parts(making, time))}`;
  }

  /** The connection that the visit was for; `undefined` for a state of another session, or of more than an hour ago. */
  async recognize(state: string, visitor: Omit<AppMaking, "connectionId">, now: number): Promise<string | undefined> {
    const [, connectionId = "", time = "", tag = ""] = SHAPE.exec(state) ?? [];
    const age = now - Number.parseInt(time, 36) * 1000;
    if (!(age >= 0 && age <= VALID_MS)) return undefined;
    return (await this.#signer.keyOf(tag, ...parts({ ...visitor, connectionId }, time))) && connectionId;
  }
}

const once = oncePer<AppStates>();

/**
 * The states of the Worker secret `TOKEN_KEYS`, parsed once per isolate.
 * @throws KeysUnusable
 */
export const loadAppStates = (text: string | undefined): AppStates =>
  once(text ?? "", () => new AppStates(parseKeys(text)));
