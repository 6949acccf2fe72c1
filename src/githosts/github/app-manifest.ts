import { APP_EVENTS, APP_PERMISSIONS } from "./app-rights.ts";

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
