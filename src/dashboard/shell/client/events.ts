/** The event of the document after each refresh of the page. */
export const REFRESHED = "millrace:refreshed";
