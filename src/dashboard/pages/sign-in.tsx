import type { Refusal } from "../../services/core/refusal.ts";
import { assetUrl } from "../asset-url.ts";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { Document } from "../layout.tsx";

interface SignInParts {
  next: string;
  problem: Refusal | null;
  /** Whether it is shown because the token that one was signed in with is no longer good. */
  isOver?: boolean;
}

export const SignInPage = ({ next, problem, isOver = false }: SignInParts) => (
  <Document title="Sign in">
    <main id="main" class="narrow">
      <h1>
        <img src={assetUrl("mark.svg")} alt="" width="28" height="28" /> Millrace
      </h1>
      <p>Builds, agents and secrets of your organization.</p>
      {isOver && (
        <p class="notice" role="status">
          You were signed out: your session was ended, or its token was revoked or has expired.
        </p>
      )}
      <ProblemNotice request={{ problem, form: null }} />
      <form method="post" action="/app/sign-in" class="stack">
        <input type="hidden" name="next" value={next} />
        <label for="token">API token</label>
        <input id="token" name="token" type="password" autocomplete="current-password" required autofocus />
        <p class="hint">
          It begins with <code>mrt_</code>. Whoever looks after your organization makes one under Tokens.
        </p>
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
      <p class="hint">
        Programs call the same service: <a href="/docs">the API</a>.
      </p>
    </main>
  </Document>
);
