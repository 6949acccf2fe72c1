/** Git's name of an encoding, and its decoder: UTF-8 where nobody knows it. */
const decoderOf = (label: string): TextDecoder => {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
};

/**
 * The message in a commit's object, in the encoding that its header names (git-commit(1), i18n.commitEncoding). It is
 * empty where no empty line ends the headers, as some programs write a commit without a message.
 */
export const messageIn = (commit: Buffer): string => {
  const end = commit.indexOf("\n\n");
  if (end < 0) return "";
  const headers = commit.toString("latin1", 0, end);
  const [, label = "utf-8"] = /^encoding (\S+)$/m.exec(headers) ?? [];
  return decoderOf(label)
    .decode(commit.subarray(end + 2))
    .trimEnd();
};
