import { generateKeyPairSync } from "node:crypto";

/** Creates the key pair of a GitHub App, with the private key in GitHub's format (PKCS#1). */
export const newAppKeys = (): { key: string; publicKey: string } => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    key: privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
    publicKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
  };
};
