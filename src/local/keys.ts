import { freshKeyset } from "./service.ts";

// `wrangler deploy --secrets-file` reads standard output, so print the advice for the person elsewhere.
console.error("# New secrets, as a file for `npx wrangler deploy --secrets-file`. Keep a copy in a safe place:");
console.error("# without SECRETS_KEYS, stored secrets cannot be decrypted.");
for (const [name, value] of Object.entries(freshKeyset())) console.log(`${name}=${value}`);
