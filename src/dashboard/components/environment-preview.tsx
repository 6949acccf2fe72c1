import type * as z from "zod/mini";
import type { EnvironmentEntry } from "../../protocol/pipeline.ts";

type Entry = z.infer<typeof EnvironmentEntry>;

type Source = { scope: string; groupId: string | null };

const Place = ({ groups, of: { scope, groupId } }: { groups: Map<string, string>; of: Source }) =>
  scope === "group" && groupId !== null ? (
    <>
      group <bdi>{groups.get(groupId) ?? ""}</bdi>
    </>
  ) : (
    <span>{scope}</span>
  );

/** What a build would be given: per key where its value comes from, and what that overrides. */
export const EnvironmentPreview = ({ entries, groups }: { entries: Entry[]; groups: Map<string, string> }) => (
  <details class="environment" open={entries.length <= 20}>
    <summary>
      Environment of a build: {entries.length} {entries.length === 1 ? "key" : "keys"}
    </summary>
    {entries.length === 0 ? (
      <p class="hint">No variable applies: only CI and the MILLRACE_ ones are set.</p>
    ) : (
      <div class="wide">
        <table>
          <thead>
            <tr>
              <th scope="col">Key</th>
              <th scope="col">Value</th>
              <th scope="col">From</th>
              <th scope="col">Overrides</th>
            </tr>
          </thead>
          <tbody>
            {entries.map((entry) => (
              <tr>
                <td>
                  <code>{entry.key}</code>
                </td>
                <td>{entry.isSecret ? <span class="label">secret</span> : <code>{entry.value}</code>}</td>
                <td>
                  {entry.variableId ? (
                    <a href={`/app/variables/${entry.variableId}`}>
                      <Place groups={groups} of={entry} />
                    </a>
                  ) : (
                    <Place groups={groups} of={entry} />
                  )}
                </td>
                <td>
                  {entry.overrides.map((below, index) => (
                    <>
                      {index > 0 && ", "}
                      <Place groups={groups} of={below} />
                    </>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    )}
  </details>
);
