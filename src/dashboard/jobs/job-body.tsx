import { StepWaterfall } from "../waterfall/step-waterfall.tsx";
import { ToldTimes } from "../waterfall/told-times.tsx";
import { Body } from "./body.tsx";
import type { Opened } from "./details.ts";
import type { JobDetails } from "./read-job.ts";

/** A job on its own page, or on that of its build: why it failed, its steps, and the tabs. */
export const JobBody = ({ details, opened }: { details: JobDetails; opened: Opened }) => {
  const { of: job, now, usual, agent } = details;
  return (
    <Body details={details} opened={opened}>
      <StepWaterfall
        of={job}
        now={now}
        usual={usual}
        told={<ToldTimes of={job} steps={job.steps} usual={usual.whole} agent={agent} now={now} />}
        logPage={opened.logPage}
      />
    </Body>
  );
};
