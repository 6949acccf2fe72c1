const PEM = /^-----BEGIN ([A-Z ]*)PRIVATE KEY-----\r?\n([\s\S]*)\n-----END \1PRIVATE KEY-----$/;
const PUBLIC = /^(?:ssh-|ecdsa-|sk-)[a-z0-9@.-]+ |^-----BEGIN [A-Z ]*PUBLIC KEY-----|^---- BEGIN SSH2 PUBLIC KEY/;

/**
 * The first bytes of an OpenSSH key without a passphrase: the format, then the cipher `none` after the length of that
 * name.
 */
const WITHOUT_CIPHER = "openssh-key-v1\0\0\0\0\x04none";

/**
 * Returns why ssh cannot use a text as a private key without a passphrase; null if ssh can. Does not contact a host.
 */
export const sshKeyProblem = (text: string): string | null => {
  const trimmed = text.trim();
  if (PUBLIC.test(trimmed)) return "is a public key: enter the private key";
  if (trimmed.startsWith("PuTTY-User-Key-File")) return "is in PuTTY's format: export it as an OpenSSH key";
  const [, kind = "", body = ""] = PEM.exec(trimmed) ?? [];
  if (/^ENCRYPTED /.test(kind) || /^Proc-Type: .*ENCRYPTED/m.test(body)) return "must have no passphrase";
  const base64 = body.replaceAll(/^[A-Za-z-]+: .*$/gm, "").replaceAll(/\s/g, "");
  if (base64 === "" || base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) {
    return "must be a private key, from its BEGIN line to its END line";
  }
  if (kind === "OPENSSH " && !atob(base64).startsWith(WITHOUT_CIPHER))
    return "must be an OpenSSH key without a passphrase";
  return null;
};
