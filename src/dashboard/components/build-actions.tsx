import type { Build } from "../../protocol/build.ts";
import { isEnded } from "../../protocol/build-states.ts";

/** Asks before the build is canceled. It is a popover, so it opens without a script; the key `c` opens it too. */
const Cancel = ({ build, name }: { build: Build; name: string }) => (
  <>
    <button type="button" popovertarget="cancel" data-key="c" disabled={build.status === "canceling"}>
      Cancel
    </button>
    <form id="cancel" class="ask" popover="auto" method="post" action={`/app/builds/${build.id}/cancel`}>
      <p>
        Cancel <strong>#{build.number}</strong> of <bdi>{name}</bdi>?
      </p>
      <span class="actions">
        <button type="submit" class="danger" autofocus>
          Cancel the build
        </button>
        <button type="button" popovertarget="cancel" popovertargetaction="hide">
          Keep it running
        </button>
      </span>
    </form>
  </>
);

/** The button that retries an ended build, or cancels another one. */
export const BuildActions = ({ build, name }: { build: Build; name: string }) => (
  <div class="actions">
    {isEnded(build.status) ? (
      <form method="post" action={`/app/builds/${build.id}/retry`}>
        <button type="submit" data-key="r">
          Retry
        </button>
      </form>
    ) : (
      <Cancel build={build} name={name} />
    )}
  </div>
);
