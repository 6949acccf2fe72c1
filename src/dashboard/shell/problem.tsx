import { PROBLEMS, type ProblemKind } from "../../protocol/problem.ts";
import type { Context } from "../../services/core/context.ts";
import type { Refusal } from "../../services/core/refusal.ts";
import { Document } from "./document.tsx";
import { Layout } from "./layout.tsx";
import type { Theme } from "./theme.ts";

const ADVICE: Partial<Record<ProblemKind, string>> = {
  forbidden: "Ask an admin of your organization for a token with a higher role.",
  "not-found": "It may have been removed, or it belongs to another organization.",
  internal: "Try again. If it happens again, send the request id below to the operator of this service.",
  unavailable: "Your change was saved as a whole or not at all. Try again in a few seconds.",
  "keyring-unavailable": "The operator of this service has to correct its keys.",
};

interface ProblemPageProps {
  problem: Refusal;
  requestId: string;
  /** The context of the signed-in person; null without a session. */
  context: Context | null;
  theme: Theme;
}

const Problem = ({ problem, requestId }: Omit<ProblemPageProps, "context" | "theme">) => {
  const [status, title] = PROBLEMS[problem.kind];
  return (
    <>
      <p class="big">{status}</p>
      <h1>{title}</h1>
      <p>{problem.message}</p>
      {ADVICE[problem.kind] && <p>{ADVICE[problem.kind]}</p>}
      <p>
        <a href="/app/builds">Go to the builds</a>
      </p>
      <p class="hint">
        Request <code>{requestId}</code>
      </p>
    </>
  );
};

/** A page that says what went wrong and what to do, with a link to go on. */
export const ProblemPage = ({ context, theme, ...props }: ProblemPageProps) => {
  const [, title] = PROBLEMS[props.problem.kind];
  if (context) {
    const body = (
      <div class="column stopped">
        <Problem {...props} />
      </div>
    );
    return <Layout context={context} view={{ title, section: null, body }} theme={theme} now={null} noticeKey={null} />;
  }
  return (
    <Document title={title} theme={theme}>
      <main id="main" class="narrow">
        <Problem {...props} />
      </main>
    </Document>
  );
};
