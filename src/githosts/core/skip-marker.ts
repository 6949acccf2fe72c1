const IN_SUBJECT = /\[(?:skip[ -]ci|ci[ -]skip|no ci|skip actions|actions skip)\]/i;
const TRAILER = /^skip-checks:[ \t]*true[ \t]*$/i;
const TRAILER_LINE = /^(?:[A-Za-z0-9-]+:|[ \t])/;

/** The last paragraph, where it is a block of trailers (git-interpret-trailers(1)) and not the subject itself. */
const trailersOf = (message: string): string[] => {
  const lines = message.trimEnd().split(/\r?\n/);
  const begin = lines.findLastIndex((line) => line.trim() === "") + 1;
  const block = lines.slice(begin);
  return begin > 0 && block.every((line) => TRAILER_LINE.test(line)) ? block : [];
};

/** The first line of a commit's message. */
export const subjectOf = (message: string): string => /^[^\r\n]*/.exec(message.trimStart())?.[0] ?? "";

/**
 * Whether the author of a commit asked for no build: by a marker in the subject line, or the trailer
 * `skip-checks: true`. One elsewhere does not count: a squash merge quotes the messages of other commits.
 */
export const hasSkipMarker = (message: string): boolean =>
  IN_SUBJECT.test(subjectOf(message)) || trailersOf(message).some((line) => TRAILER.test(line));
