import { type NamedKey, parseKeys } from "../../crypto/keys.ts";
import { Signer } from "../../crypto/signer.ts";
import { oncePer } from "../../once-per.ts";
import { HOUR_MS } from "../../protocol/units.ts";

/** The permissions that an App requests, and the features that need them. Each owner must accept later additions. */
export const APP_PERMISSIONS = {
  metadata: "read",
  contents: "read",
  pull_requests: "read",
  statuses: "write",
  checks: "write",
  merge_queues: "read",
} as const;

/** The events that GitHub sends to an App. GitHub always sends the events of the App's own installation. */
const APP_EVENTS = ["push", "pull_request", "check_run", "check_suite", "merge_group", "repository"] as const;

/** The input for a new App. The addresses belong to this service. */
interface AppPlaces {
  name: string;
  origin: string;
  connectionId: string;
  hookUrl: string;
}

/**
 * Creates the manifest of an App:
 * https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
 */
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

/** Returns the address where a person creates an App at GitHub, for an organization or for their own account. */
export const appFormUrl = (webUrl: string, organization: string | null, state: string): string => {
  const owner = organization === null ? "" : `/organizations/${encodeURIComponent(organization)}`;
  return `${webUrl}${owner}/settings/apps/new?state=${encodeURIComponent(state)}`;
};

/** Returns the name of a new App. GitHub allows at most 34 characters, and each name once. */
export const appName = (orgId: string): string => `millrace-${orgId}`.slice(0, 34);

const SHAPE = /^([0-9a-f-]{36})\.([0-9a-z]{1,9})\.([A-Za-z0-9]{12})$/;
/** Milliseconds for which a state is valid. GitHub accepts a manifest's code for the same time. */
const VALID_MS = HOUR_MS;

/** The person who creates an App for a connection. The same person must return from GitHub. */
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

/**
 * Derives the `state` `CONNECTION.TIME.TAG` of a visit to GitHub from the keys of `TOKEN_KEYS`. The service does not
 * store it.
 */
export class AppStates {
  readonly #signer: Signer;

  constructor(keys: readonly NamedKey[]) {
    this.#signer = new Signer(keys);
  }

  /** Returns the state for a visit. @param now In milliseconds. */
  async grant(making: AppMaking, now: number): Promise<string> {
    const time = Math.floor(now / 1000).toString(36);
    return `${making.connectionId}.${time}.${await this.#signer.tag(this.#signer.first, ...parts(making, time))}`;
  }

  /** Returns the visit's connection; `undefined` for a state of another session, or older than an hour. */
  async recognize(state: string, visitor: Omit<AppMaking, "connectionId">, now: number): Promise<string | undefined> {
    const [, connectionId = "", time = "", tag = ""] = SHAPE.exec(state) ?? [];
    const age = now - Number.parseInt(time, 36) * 1000;
    if (!(age >= 0 && age <= VALID_MS)) return undefined;
    return (await this.#signer.keyOf(tag, ...parts({ ...visitor, connectionId }, time))) && connectionId;
  }
}

const once = oncePer<AppStates>();

/**
 * Loads the states of the Worker secret `TOKEN_KEYS`, parsed once per isolate.
 * @throws KeysUnusable
 */
export const loadAppStates = (text: string | undefined): AppStates =>
  once(text ?? "", () => new AppStates(parseKeys(text)));
