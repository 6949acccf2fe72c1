/** Decodes an XML file in pieces, by its byte order mark or by what its first line says (https://www.w3.org/TR/xml, F.1). */
export const reportDecoder = (bytes: Uint8Array): TextDecoder => {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be");
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le");
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 200));
  return decoderOf(/^[^<]*<\?xml[^>]*encoding=["']([\w.-]{1,40})["']/.exec(head)?.[1] ?? "utf-8");
};

const decoderOf = (label: string): TextDecoder => {
  try {
    // A text that can be read byte by byte is not UTF-16, whatever it says.
    return new TextDecoder(/^utf-?16/i.test(label) ? "utf-8" : label);
  } catch {
    return new TextDecoder();
  }
};
