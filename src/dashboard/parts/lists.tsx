import type { Child } from "../shell/markup.ts";

/** Shows a table of records. On a phone, the stylesheet lays the rows out as a list. */
export const Table = ({ columns, children }: { columns: Child[]; children?: Child }) => (
  <div class="wide">
    <table>
      <thead>
        <tr>
          {columns.map((column) => (
            <th scope="col">{column}</th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);

/** Shows items in a sentence, separated by commas. */
export const CommaList = ({ items }: { items: Child[] }) =>
  items.map((item, index) => (
    <>
      {index > 0 && ", "}
      {item}
    </>
  ));
