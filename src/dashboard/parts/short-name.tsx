/** Characters at the end of a long name that stay: names of a family differ there. */
const KEPT = 8;
/** Characters before them: fewer would have no room for the sign that some are missing. */
const BEFORE = 4;

/** A name that is shortened in its middle where there is no room. */
export const ShortName = ({ name }: { name: string }) => {
  const before = name.length <= KEPT ? 0 : Math.max(BEFORE, name.length - KEPT);
  return (
    <bdi class="short-name" title={name}>
      <span>{name.slice(0, before)}</span>
      <span>{name.slice(before)}</span>
    </bdi>
  );
};
