import type { Refusal } from "../../services/core/refusal.ts";
import { assetUrl } from "../asset-url.ts";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { Document } from "../document.tsx";
import type { Theme } from "../theme.ts";

interface SignInProps {
  theme: Theme;
  /** The path to open after signing in. */
  next: string;
  problem: Refusal | null;
  /** The person was signed in until the session or its token ended. */
  isOver?: boolean;
}

export const SignInPage = ({ theme, next, problem, isOver = false }: SignInProps) => (
  <Document title="Sign in" theme={theme}>
    <main id="main" class="narrow">
      <h1>
        <img src={assetUrl("mark.svg")} alt="" width="28" height="28" /> Millrace
      </h1>
      <p>Builds, agents and secrets of your organization.</p>
      {isOver && (
        <p class="notice" role="status">
          You were signed out. Your session has ended, or its token was revoked or has expired.
        </p>
      )}
      <ProblemNotice request={{ problem, form: null }} />
      <form method="post" action="/app/sign-in" class="stack">
        <input type="hidden" name="next" value={next} />
        <input type="text" autocomplete="username" value="Millrace" readonly hidden />
        <label for="token">API token</label>
        <input id="token" name="token" type="password" autocomplete="current-password" required autofocus />
        <p class="hint">
          It begins with <code>mrt_</code>. An admin of your organization creates one under Tokens.
        </p>
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
      <p class="hint">
        Programs use <a href="/docs">the API</a>.
      </p>
    </main>
  </Document>
);
