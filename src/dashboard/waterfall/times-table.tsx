import { formatDuration } from "../format-time.ts";

/** What the picture shows of one row, in words. Lengths are milliseconds. */
export interface TimeOfRow {
  name: string;
  word: string;
  waited: number | null;
  took: number | null;
  usual: number | undefined;
}

const inWords = (milliseconds: number | null | undefined): string =>
  milliseconds === null || milliseconds === undefined ? "" : formatDuration(milliseconds);

/** The waterfall as a table, for who does not see it. */
export const TimesTable = ({ noun, times }: { noun: "step" | "job"; times: TimeOfRow[] }) => (
  <div class="sr">
    <table id="times">
      <caption>Times of the {noun}s</caption>
      <thead>
        <tr>
          {[noun === "step" ? "Step" : "Job", "State", "Waited", "Took", "Usually"].map((name) => (
            <th scope="col">{name}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {times.map(({ name, word, waited, took, usual }) => (
          <tr>
            <th scope="row">
              <bdi>{name}</bdi>
            </th>
            <td>{word}</td>
            <td>{inWords(waited)}</td>
            <td>{inWords(took)}</td>
            <td>{inWords(usual)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
