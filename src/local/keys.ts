import { freshKeyset } from "./keyset.ts";

console.log("# New secrets. Set each with `npx wrangler secret put NAME`, and keep a copy in a safe place:");
console.log("# without SECRETS_KEYS, stored secrets cannot be decrypted.");
for (const [name, value] of Object.entries(freshKeyset())) console.log(`${name}=${value}`);
