/** The number of characters to keep at the end of a long name, because similar names differ there. */
const KEPT = 8;
/** The minimum number of characters before them. A smaller number would leave no room for the ellipsis. */
const BEFORE = 4;

/** Shows a name. If there is no room, the page shortens the name in the middle. */
export const ShortName = ({ name }: { name: string }) => {
  const before = name.length <= KEPT ? 0 : Math.max(BEFORE, name.length - KEPT);
  return (
    <bdi class="short-name" title={name}>
      <span>{name.slice(0, before)}</span>
      <span>{name.slice(before)}</span>
    </bdi>
  );
};
