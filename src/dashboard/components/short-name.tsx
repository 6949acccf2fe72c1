/** Characters at the end of a long name that stay: names of a family differ there. */
const KEPT = 8;

/** A name that is shortened in its middle where there is no room. */
export const ShortName = ({ name }: { name: string }) => (
  <bdi class="short-name" title={name}>
    <span>{name.slice(0, -KEPT)}</span>
    <span>{name.slice(-KEPT)}</span>
  </bdi>
);
