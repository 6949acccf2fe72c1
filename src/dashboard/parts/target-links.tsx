const FIELDS = { pipeline: "pipelineId", repository: "repoId" };

/** Links from a pipeline or repository to its builds and variables, and to the form that runs a build. */
export const TargetLinks = ({ scope, id, canRun }: { scope: keyof typeof FIELDS; id: string; canRun: boolean }) => (
  <>
    <a class="button" href={`/app/builds?${FIELDS[scope]}=${id}`}>
      Builds
    </a>
    <a class="button" href={`/app/variables?owner=${scope}:${id}`}>
      Variables
    </a>
    {canRun && (
      <a class="button primary" href={`/app/builds/new?${FIELDS[scope]}=${id}`}>
        Run build
      </a>
    )}
  </>
);
