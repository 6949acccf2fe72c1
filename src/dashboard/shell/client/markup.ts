interface Policies {
  createPolicy(name: string, rules: { createHTML(text: string): string }): { createHTML(text: string): string };
}

/** The only place where text becomes markup. Its texts are pages of this service and rendered Markdown, both escaped. */
const policy = (globalThis as { trustedTypes?: Policies }).trustedTypes?.createPolicy("millrace", {
  createHTML: (text) => text,
});

export const parseMarkup = (text: string): Document =>
  new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "text/html");
