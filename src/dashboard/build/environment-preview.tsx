import type * as z from "zod/mini";
import type { EnvironmentEntry } from "../../protocol/pipeline.ts";
import { CommaList } from "../parts/comma-list.tsx";
import { count } from "../parts/count.ts";
import { Table } from "../parts/table.tsx";

type Entry = z.infer<typeof EnvironmentEntry>;
type Source = Pick<Entry, "scope" | "groupId">;

/** Longer environments are folded at first. */
const SHORT = 20;

const SourceName = ({ source: { scope, groupId }, groups }: { source: Source; groups: Map<string, string> }) =>
  scope === "group" && groupId !== null ? (
    <>
      group <bdi>{groups.get(groupId) ?? ""}</bdi>
    </>
  ) : (
    <span>{scope}</span>
  );

const Row = ({ entry, groups }: { entry: Entry; groups: Map<string, string> }) => (
  <tr>
    <td>
      <code>{entry.key}</code>
      {entry.isFile && <span class="label">file</span>}
    </td>
    <td>{entry.isSecret ? <span class="label">secret</span> : <code>{entry.value}</code>}</td>
    <td>
      {entry.variableId ? (
        <a href={`/app/variables/${entry.variableId}`}>
          <SourceName source={entry} groups={groups} />
        </a>
      ) : (
        <SourceName source={entry} groups={groups} />
      )}
    </td>
    <td>
      <CommaList items={entry.overrides.map((overridden) => <SourceName source={overridden} groups={groups} />)} />
    </td>
  </tr>
);

/** The environment that a build of the pipeline gets: the source of each key, and what it overrides. */
export const EnvironmentPreview = ({ entries, groups }: { entries: Entry[]; groups: Map<string, string> }) => (
  <details class="environment" open={entries.length <= SHORT}>
    <summary>Environment of a build: {count(entries.length, "key")}</summary>
    {entries.some(({ isSecret, isFile }) => isSecret || isFile) && (
      <p class="hint">An untrusted build gets neither its secrets nor its files.</p>
    )}
    {entries.length === 0 ? (
      <p class="hint">No variable applies. A build gets only CI and the variables that begin with MILLRACE_.</p>
    ) : (
      <Table columns={["Key", "Value", "From", "Overrides"]}>
        {entries.map((entry) => (
          <Row entry={entry} groups={groups} />
        ))}
      </Table>
    )}
  </details>
);
