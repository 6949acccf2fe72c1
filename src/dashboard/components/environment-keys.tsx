import type { EnvironmentKey } from "../../protocol/build.ts";
import { count } from "../count.ts";
import { Table } from "./table.tsx";

/** The keys that a build or a job got, and from where. Nothing where it got none. */
export const EnvironmentKeys = ({ keys }: { keys: EnvironmentKey[] | null }) =>
  keys === null || keys.length === 0 ? null : (
    <section class="part" id="environment">
      <h2>{count(keys.length, "key")} of the environment</h2>
      <Table columns={["Key", "From", "Kind"]}>
        {keys.map(({ key, scope, isSecret, isFile }) => (
          <tr>
            <td>
              <code>{key}</code>
            </td>
            <td>{scope}</td>
            <td>
              {isSecret ? "secret" : "plain"}
              {isFile && " file"}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
