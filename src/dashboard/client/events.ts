/** Told to the document after the page has become what it is now. */
export const REFRESHED = "millrace:refreshed";
