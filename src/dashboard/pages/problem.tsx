import { PROBLEMS, type ProblemKind } from "../../protocol/problem.ts";
import type { Context } from "../../services/core/context.ts";
import type { Refusal } from "../../services/core/refusal.ts";
import { Document, Layout } from "../layout.tsx";

const NEXT: Partial<Record<ProblemKind, string>> = {
  forbidden: "Ask an admin of your organization for a token with a higher role.",
  "not-found": "It may have been removed, or belong to another organization.",
  internal: "Try again; if it stays, tell whoever runs this service the request id below.",
  unavailable: "Nothing is half-done. Try again in a few seconds.",
  "keyring-unavailable": "Whoever runs this service has to put its keys right.",
};

interface ProblemParts {
  problem: Refusal;
  requestId: string;
  /** Who is signed in: the frame around the page is theirs. */
  context: Context | null;
}

const What = ({ problem, requestId }: Omit<ProblemParts, "context">) => {
  const [status, title] = PROBLEMS[problem.kind];
  return (
    <>
      <p class="big">{status}</p>
      <h1>{title}</h1>
      <p>{problem.message}</p>
      {NEXT[problem.kind] && <p>{NEXT[problem.kind]}</p>}
      <p>
        <a href="/app/builds">Go to the builds</a>
      </p>
      <p class="hint">
        Request <code>{requestId}</code>
      </p>
    </>
  );
};

/** A page that says what happened, what to do, and where to go on. */
export const ProblemPage = ({ context, ...what }: ProblemParts) => {
  const [, title] = PROBLEMS[what.problem.kind];
  if (context) {
    const body = (
      <div class="column">
        <What {...what} />
      </div>
    );
    return <Layout context={context} view={{ title, section: null, body }} done={null} />;
  }
  return (
    <Document title={title}>
      <main id="main" class="narrow">
        <What {...what} />
      </main>
    </Document>
  );
};
