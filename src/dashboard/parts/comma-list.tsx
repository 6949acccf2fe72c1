import type { Child } from "hono/jsx";

/** What stands in a sentence, with commas between. */
export const CommaList = ({ items }: { items: Child[] }) =>
  items.map((item, index) => (
    <>
      {index > 0 && ", "}
      {item}
    </>
  ));
