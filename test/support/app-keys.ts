import { generateKeyPairSync } from "node:crypto";

/** The key pair of a GitHub App: the private one as GitHub hands it out (PKCS#1). */
export const newAppKeys = (): { key: string; publicKey: string } => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    key: privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
    publicKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
  };
};
