import { freshKeyset } from "./keyset.ts";

console.log(
  "# A fresh set of secrets. Put each with `npx wrangler secret put NAME`, and keep a copy where you keep keys:",
);
console.log("# without SECRETS_KEYS no stored secret can be opened again.");
for (const [name, value] of Object.entries(freshKeyset())) console.log(`${name}=${value}`);
