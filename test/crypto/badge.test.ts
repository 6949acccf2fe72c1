import { expect, it } from "vitest";
import { BadgeMint } from "../../src/crypto/badge.ts";

const key = (id: string) => ({ id, bytes: new Uint8Array(32).fill(id.charCodeAt(1)) });
const BADGE = { orgId: "acme", pipelineId: "01900000-0000-7000-8000-000000000000", generation: 3 };

it("a badge's signer recognizes only its own addresses, including those of an older key", async () => {
  const mint = new BadgeMint([key("k1")]);
  const token = await mint.grant(BADGE);
  expect(await mint.recognize(token)).toEqual(BADGE);
  expect(await new BadgeMint([key("k2"), key("k1")]).recognize(token)).toEqual(BADGE);
  expect(await new BadgeMint([key("k2")]).recognize(token)).toBeUndefined();
  for (let at = 0; at < token.length; at++) {
    const changed = token.slice(0, at) + (token[at] === "b" ? "c" : "b") + token.slice(at + 1);
    expect(await mint.recognize(changed), changed).toBeUndefined();
  }
});
